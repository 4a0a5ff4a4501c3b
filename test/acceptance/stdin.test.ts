// Every kind of stdin of a chat: it is read to its end if there is something to read, without a time limit, never cut, and in bounded memory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import { hasCommand } from '../support/machine.ts';
import { outcomeOf } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const place = new PlaceInProcess();
beforeAll(() => place.output(['models']));
afterAll(() => place.remove());

const hasPython = hasCommand('python3');
const waiting = /^Waiting for a message on standard input \(until end of file\); -n skips it\.\n$/;

async function shown(script: string) {
  const { status, out, err } = await place.shell(script);
  return { status, out, err };
}

test.each(['chat -m echo w', 'chat --batch', 'sessions delete --yes', 'sessions import -'])(
  'a directory on stdin of %s is refused',
  async (command) => {
    const refused = await place.shell(`parley ${command} < /`);
    expectFailure(refused, { status: 2, code: 'USAGE' });
    expect(refused.err).toContain('Standard input cannot be read: it is a directory.');
  },
);

describe.concurrent('a stdin that is slow', () => {
  test('is read to its end, however long it takes, and a note says that the command waits', async () => {
    const { status, out, err } = await place.shell(
      '(sleep 2.6; printf one; sleep 0.3; printf two) | parley chat -m echo w',
    );
    expect({ status, out }).toEqual({ status: 0, out: 'w\n\nonetwo\n' });
    expect(err).toMatch(waiting);
  });

  test('causes no note after its first byte', async () => {
    const { out, err } = await place.shell('(printf one; sleep 2.6; printf two) | parley chat -m echo');
    expect({ out, err }).toEqual({ out: 'onetwo\n', err: '' });
  });

  test('causes no note with --quiet', async () => {
    const { out, err } = await place.shell('(sleep 2.6; printf one) | parley chat -m echo --quiet');
    expect({ out, err }).toEqual({ out: 'one\n', err: '' });
  });

  test('and never ends, an idle pipe, is named after 2 s, and not read with -n', async () => {
    const script = 'mkfifo idle; sleep 9 > idle & exec 5< idle; kill_it() { kill %1; }';
    const { out, err } = await place.shell(
      `${script}; timeout -s INT 4 parley chat -m echo w <&5; echo "status $?"; parley chat -n -m echo w <&5; kill_it`,
    );
    expect(out).toBe('status 124\nw\n');
    expect(err).toMatch(waiting);
  });

  test('and never ends, an idle socket, is named after 2 s', async () => {
    const child = place.start(['chat', '-m', 'echo', 'w']);
    const ended = outcomeOf(child);
    await once(child.stderr, 'data');
    child.kill('SIGINT');
    const { status, out, err } = await ended;
    expect({ status, out }).toEqual({ status: 130, out: '' });
    expect(err).toMatch(waiting);
  });
});

describe.concurrent('a loop that reads lines', () => {
  test('loses its lines to a chat without -n, as to ssh', async () => {
    const script = `printf '%s\\n' one two three | while read -r line; do parley chat -m echo "$line"; done`;
    expect((await shown(script)).out).toBe('one\n\ntwo\nthree\n');
  });

  test.each(['-n', '--no-stdin', '< /dev/null'])('keeps them with %s', async (way) => {
    const script = `printf '%s\\n' one two three | while read -r line; do parley chat -m echo "$line" ${way}; done`;
    expect(await shown(script)).toEqual({ status: 0, out: 'one\ntwo\nthree\n', err: '' });
  });
});

describe.concurrent('a chat that is started', () => {
  test('as by cron, without a terminal, with /dev/null, sends its words', async () => {
    const script =
      'env -i PATH="$PATH" HOME="$HOME" PARLEY_CONFIG_DIR="$PARLEY_CONFIG_DIR" PARLEY_DATA_DIR="$PARLEY_DATA_DIR"';
    const command = `${script} setsid -w sh -c 'parley chat -m echo w < /dev/null'`;
    expect(await shown(command)).toEqual({ status: 0, out: 'w\n', err: '' });
  });

  test('as by ssh without a tty, with an open socket that ends, sends its words and stdin', async () => {
    const server = createServer((socket: Socket) => void socket.end('over the line'));
    await new Promise<void>((resolve) => server.listen(join(place.path, 'socket'), resolve));
    const script = `exec setsid -w parley chat -m echo w`;
    const child = spawn(
      process.execPath,
      [
        '-e',
        `const s = require('node:net').connect('socket'); s.once('connect', () => {
          s.pause();
          const c = require('node:child_process').spawn('bash', ['-c', ${JSON.stringify(script)}], { stdio: [s, 'inherit', 'inherit'] });
          c.on('exit', (code) => process.exit(code));
        });`,
      ],
      { cwd: place.path, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const { status, out, err } = await outcomeOf(child);
    server.close();
    expect({ status, out, err }).toEqual({ status: 0, out: 'w\n\nover the line\n', err: '' });
  });

  test.each([
    ["'pipe'", 'in\n', 'c.stdin.end("in")'],
    ["'ignore'", 'w\n', ''],
    ['null', 'w\n', 'c.stdin.end()'],
  ])('from Node with a stdin of %s, is given what its parent gives', async (stdin, expected, then) => {
    const words = expected === 'w\n' ? "'w'" : '';
    const program = `const c = require('node:child_process').spawn('parley', ['chat', '-m', 'echo', ${words}], { stdio: [${stdin}, 'inherit', 'inherit'] }); ${then}`;
    const child = spawn(process.execPath, ['-e', program], {
      cwd: place.path,
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect(await outcomeOf(child)).toMatchObject({ status: 0, out: expected, err: '' });
  });

  test.skipIf(!hasPython)('from Python reads the stdin that its parent gives it', async () => {
    const program = [
      'import subprocess, sys',
      "run = lambda **more: subprocess.run(['parley', 'chat', '-m', 'echo', 'w'], stdout=subprocess.PIPE, **more).stdout",
      "sys.stdout.buffer.write(run(input='é'.encode()) + run(stdin=subprocess.DEVNULL) + run(input=b''))",
    ].join('\n');
    writeFileSync(join(place.path, 'parent.py'), program);
    expect(await shown('python3 parent.py')).toEqual({ status: 0, out: 'w\n\né\nw\nw\n', err: '' });
  });
});

function environment() {
  return {
    PATH: `${join(place.path, 'bin')}:${process.env['PATH']}`,
    HOME: place.path,
    PARLEY_CONFIG_DIR: place.configDirectory,
    PARLEY_DATA_DIR: place.dataDirectory,
  };
}

describe.concurrent('too much', () => {
  /** Runs the command with the stdin of the shell, and returns its peak memory in MB. */
  const measured = `import resource, subprocess, sys
r = subprocess.run(sys.argv[1:], stdin=0)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(r.returncode)`;

  test.skipIf(!hasPython).each([
    ['a pipe that never ends', 'yes'],
    ['10 GB of zeros made letters', 'head -c 10G /dev/zero | tr "\\\\0" x'],
  ])('%s is refused at the limit, which is named, within 150 MB', async (_fact, source) => {
    const { status, out, err } = await place.shell(
      `${source} 2>/dev/null | python3 -c '${measured}' parley chat -m echo; exit "\${PIPESTATUS[-1]}"`,
    );
    expect(status).toBe(2);
    expect(err).toContain('Standard input has more than 1048576 bytes');
    expect(Number(out)).toBeGreaterThan(10);
    expect(Number(out)).toBeLessThanOrEqual(150);
  });

  test('a binary is refused with its place', async () => {
    expectFailure(await place.shell('head -c 100000 /proc/self/exe | parley chat -m echo'), {
      status: 2,
      code: 'INVALID_REQUEST',
    });
  });
});

describe.concurrent('-f -', () => {
  test('puts stdin into the message as a file, among others, and once', async () => {
    writeFileSync(join(place.path, 'a.txt'), 'from a\n');
    const words = ['chat', '-m', 'echo', 'w', '-f', 'a.txt', '-f', '-'];
    expect(await place.output(words, { stdin: 'piped' })).toBe(
      'w\n\n```a.txt\nfrom a\n```\n\n```stdin\npiped\n```\n',
    );
  });

  test('a file name among the words is sent as text, with a note', async () => {
    writeFileSync(join(place.path, 'b.txt'), 'from b\n');
    writeFileSync(join(place.path, 'c.txt'), 'from c\n');
    const { out, err } = await place.parley(['chat', '-n', '-m', 'echo', '-f', 'b.txt', 'c.txt', 'q']);
    expect(out).toBe('c.txt q\n\n```b.txt\nfrom b\n```\n');
    expect(err).toContain('c.txt: sent as text, not as files. Each file needs its own -f: -f c.txt\n');
  });

  test.each([
    ['twice', ['-f', '-', '-f', '-']],
    ['and as the words', ['-f', '-', '-']],
    ['with -n', ['-n', '-f', '-']],
  ])('%s is refused', async (_fact, words) => {
    expectFailure(await place.parley(['chat', '-m', 'echo', ...words], { stdin: 'x' }), {
      status: 2,
      code: 'USAGE',
    });
  });
});

describe.concurrent('--extract-code', () => {
  const reply = 'Here:\n\n```sh\nls -l\n```\n\nor\n\n~~~\ndir\n~~~\n';

  test('prints the first block, =last the last, and does not take the words of the message as its value', async () => {
    expect(await place.output(['chat', '-n', '-m', 'echo', '--extract-code', reply])).toBe('ls -l\n');
    expect(await place.output(['chat', '-n', '-m', 'echo', '--extract-code=last', reply])).toBe('dir\n');
    expect(await place.output(['chat', '-n', '-m', 'echo', '--', '--extract-code'])).toBe('--extract-code\n');
  });

  test('without a block ends with 1, and names the session that holds the reply', async () => {
    const outcome = await place.parley(['chat', '-n', '-m', 'echo', '--extract-code', 'none']);
    expectFailure(outcome, { status: 1, code: 'NOT_FOUND' });
    const [, id = ''] = /parley sessions messages (ses_\w+)/.exec(outcome.err) ?? [];
    expect(await place.output(['sessions', 'messages', id])).toContain('none');
  });

  test.each(['--json', '--json-stream', '--extract-code=second'])('with %s is refused', async (other) => {
    const { status } = await place.parley(['chat', '-n', '-m', 'echo', '--extract-code', other, 'x']);
    expect(status).toBe(2);
  });
});
