// The terminal code on real streams: pipes, files, devices and a PTY, each in a process of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BundledProgram, bundleProgram } from '../../support/bundled-program.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const source = fileURLToPath(new URL('terminal-program.ts', import.meta.url));
const node = process.execPath;
let program: BundledProgram;
let bare: BundledProgram;
const directory = temporaryDirectory(afterAll);

beforeAll(async () => {
  program = await bundleProgram(source);
  bare = await bundleProgram(source, { absent: ['chalk', 'ora', 'string-width', '@inquirer/prompts'] });
});

afterAll(async () => {
  await Promise.all([program.remove(), bare.remove()]);
});

interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
}

async function outcome(child: ChildProcess): Promise<Outcome> {
  const text = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    text.stdout += piece;
  });
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    text.stderr += piece;
  });
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { ...text, status };
}

const { PATH } = process.env;
const env = { PATH, TERM: 'xterm' };
const bold = '\x1b[1m';
const lineCleared = '\x1b[1G\x1b[0K';
const cursorShown = '\x1b[?25h';

/** A command line for bash, in which `$parley` runs the program. */
function shell(command: string, { path } = program): Promise<Outcome> {
  const script = `set -o pipefail; parley() { "${node}" "${path}" "$@"; }; ${command}`;
  return outcome(spawn('bash', ['-c', script], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

interface TerminalOptions {
  readonly columns?: number;
  readonly keys?: readonly (readonly [cue: string, key: string])[];
  readonly NO_COLOR?: string;
}

/** The program on a PTY. `keys` are typed when the screen shows their cue. */
function terminal(words: string, { columns = 80, keys = [], NO_COLOR = '' }: TerminalOptions = {}) {
  const command = `stty -echo cols ${columns}; "${node}" "${program.path}" ${words}; echo "status $?"`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: directory,
    env: { ...env, NO_COLOR },
  });
  let screen = '';
  const awaited = [...keys];
  child.stdout.on('data', (piece: Buffer) => {
    screen += piece;
    const [cue, key] = awaited[0] ?? [];
    if (cue === undefined || key === undefined || !screen.includes(cue)) return;
    awaited.shift();
    child.stdin.write(key);
  });
  return outcome(child);
}

describe('stdout', () => {
  test('reaches a slow reader completely, 10 MB of it, and is never buffered', async () => {
    const { stdout, stderr } = await shell('parley pour 160 | (sleep 0.3; cat) | sha256sum');
    const expected = createHash('sha256');
    for (let piece = 0; piece < 160; piece += 1) expected.update(String(piece % 10).repeat(65_536));
    expect(stdout).toBe(`${expected.digest('hex')}  -\n`);
    expect(Number(stderr)).toBeLessThanOrEqual(64 * 1024);
  });

  test('keeps the order of many small writes, in a pipe that is slow or full, in a file and in a socket', async () => {
    const expected = Array.from({ length: 50_000 }, (_, index) => `${index + 1}\n`).join('');
    const through = (reader: string) => shell(`parley lines 50000 | ${reader}`);
    expect((await through('(sleep 0.3; cat)')).stdout).toBe(expected);
    const filled = await shell('(head -c 65536 /dev/zero; parley lines 50000) | (sleep 0.3; tail -c +65537)');
    expect(filled.stdout).toBe(expected);
    expect((await shell('parley lines 50000 > lines; cat lines')).stdout).toBe(expected);
    // Node gives its children a socket in place of a pipe.
    expect(await outcome(spawn(node, [program.path, 'lines', '50000'], { env }))).toMatchObject({
      stdout: expected,
    });
  });

  test('ends without an error when its reader leaves', async () => {
    expect(await shell('parley endless | head -1')).toEqual({
      stdout: 'line 1\n',
      stderr: 'the reader went away',
      status: 0,
    });
  });

  test('that cannot be written is a failure', async () => {
    const { stderr, status } = await shell('parley pour 1 > /dev/full');
    expect(stderr).toContain('STORAGE_FULL The output could not be written: ENOSPC');
    expect(status).toBe(2);
  });

  test('in a pipe has the exact bytes, stderr the visible ones', async () => {
    const { stdout, stderr } = await shell(
      `parley untrusted '["a\\r", "\\n\\u001b[2", "J", "\\ud83d", "\\ude00"]'`,
    );
    expect(stdout).toBe('a\r\n\x1b[2J\u{1f600}\n');
    expect(stderr).toBe('a\n\\x1b[2J\u{1f600}\n');
  });

  test('loads chalk only for colour', async () => {
    expect(await shell('parley styled', bare)).toEqual({ stdout: 'red', stderr: '', status: 0 });
    expect((await shell('FORCE_COLOR=1 parley styled')).stdout).toBe('\x1b[31mred\x1b[39m');
    expect((await shell('FORCE_COLOR=1 parley styled', bare)).stderr).toContain(
      "Cannot find package 'chalk'",
    );
  });

  test('in a pipe prints a table without loading a library', async () => {
    expect((await shell(`parley table '[["ses_1","Title"]]'`, bare)).stdout).toBe('ses_1\tTitle\n');
  });
});

describe('stdin', () => {
  test.each([
    ['a pipe', 'echo a | parley kind', 'pipe'],
    ['a file', 'echo a > file; parley kind < file', 'file'],
    ['/dev/null', 'parley kind < /dev/null', 'device'],
    ['closed', 'parley kind <&-', 'device'],
  ])('is known when it is %s', async (_, command, kind) => {
    expect((await shell(command)).stdout).toBe(kind);
  });

  test('is known when it is a socket', async () => {
    const child = spawn(node, [program.path, 'kind']);
    expect((await outcome(child)).stdout).toBe('socket');
  });

  test.each([
    ['a pipe', `printf 'a\\r\\nb' | parley message`],
    ['a file', `printf 'a\\r\\nb' > text; parley message < text`],
  ])('from %s is read byte for byte, and the process ends', async (_, command) => {
    expect(await shell(command)).toEqual({ stdout: 'a\r\nb', stderr: '', status: 0 });
  });

  test('that never ends is refused at the limit, and the process ends', async () => {
    const { stderr, status } = await shell('set +o pipefail; yes | parley message');
    expect(status).toBe(2);
    expect(stderr).toContain('PAYLOAD_TOO_LARGE Standard input has more than 1048576 bytes');
  });

  test('that stays silent is closed when the command is stopped', async () => {
    const child = spawn(node, [program.path, 'stopped']);
    expect(await outcome(child)).toEqual({ stdout: '', stderr: 'Interruption  SIGINT', status: 130 });
  });

  test('may contain a million ids', async () => {
    const { stdout } = await shell(
      `(seq -f ses_01JABCDEFGHJKMNP%.0f 1000001 1999999; echo ses_01JABCDEFGHJKMNP1000001) | parley ids`,
    );
    const { count, duplicates, megabytes } = JSON.parse(stdout);
    expect([count, duplicates]).toEqual([999_999, 1]);
    expect(megabytes).toBeLessThan(200);
  });
});

describe('a terminal', () => {
  test('shows untrusted text without control characters', async () => {
    const { stdout } = await terminal(`untrusted '["a\\r", "\\n\\u001b[2", "J\\u009b31m"]'`);
    expect(stdout).toBe(`${'a\r\n\\x1b[2J\\x9b31m\r\n'.repeat(2)}status 0\r\n`);
  });

  test('shows a table in its own width, the titles bold', async () => {
    const { stdout } = await terminal(`table '[["ses_1","日本語日本語"]]'`, { columns: 15 });
    expect(stdout).toBe('\x1b[1mID     TITLE\x1b[22m\r\nses_1  日本語…\r\nstatus 0\r\n');
  });

  test('is a device as stdin', async () => {
    expect((await terminal('kind')).stdout).toBe('devicestatus 0\r\n');
  });

  test.each([
    ['y', 'y\r', 'answer: true', 0],
    ['n', 'n\r', 'answer: false', 0],
    ['nothing', '\r', 'answer: false', 0],
    ['Ctrl-C', '\x03', 'Interruption', 130],
    ['Ctrl-D', '\x04', 'Interruption', 130],
  ])('asks, and accepts %s as the answer', async (_, key, answer, status) => {
    const { stdout } = await terminal('ask', { keys: [['(y/N)', key]] });
    expect(stdout).toContain('Delete \\x1b[2J it?');
    expect(stdout).toContain(answer);
    expect(stdout).toContain(`status ${status}`);
  });

  test('asks in colour, or without colour if it is turned off', async () => {
    const keys = [['(y/N)', 'y\r']] as const;
    const coloured = await terminal('ask', { keys });
    const plain = await terminal('ask', { keys, NO_COLOR: '1' });
    expect(coloured.stdout).toContain(bold);
    expect(plain.stdout).toContain('answer: true');
    expect(plain.stdout).not.toContain(bold);
  });

  test('shows a sign of life, and erases it', async () => {
    const { stdout } = await terminal('wait', { keys: [['Waiting for eliza 1 s', '\r']] });
    expect(stdout.slice(stdout.lastIndexOf(' s') + 2)).toContain(`${lineCleared}${cursorShown}done\r\n`);
  });
});
