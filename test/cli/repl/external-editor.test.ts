// The file of an external editor: it is read up to a limit, and stays if it cannot be read.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { writeInEditor } from '../../../src/cli/repl/external-editor.ts';
import type { ParleyError } from '../../../src/service/errors.ts';
import { SmallDisk } from '../../support/small-disk.ts';

const { signal } = new AbortController();

/** The failure of an editor that is this shell script. The file is its first argument. */
function failureOf(script: string): Promise<ParleyError> {
  const env = { ...process.env, VISUAL: `edit() { ${script}; }; edit` };
  return writeInEditor('text', env, signal).then(
    () => expect.unreachable(),
    (reason: ParleyError) => reason,
  );
}

/** The file that a text names. */
function fileIn(text: string, pattern: RegExp): string {
  return pattern.exec(text)?.[1] ?? expect.fail(text);
}

test('a text of 100 MiB is refused with its size, and the file stays', async () => {
  const error = await failureOf('truncate -s 100M "$1"');
  const file = fileIn(error.message, /^(\S+) cannot be read \(more than 8388608 bytes: 104857600\)\.$/);
  expect(error.code).toBe('CONFIG');
  expect(error.hint).toBe('Shorten the file, or replace it.');
  expect(statSync(file).size).toBe(104857600);
  rmSync(dirname(file), { recursive: true });
});

test('a text of 8 MiB is read completely', async () => {
  const env = { ...process.env, VISUAL: 'head -c 8388608 /dev/zero | tr "\\0" x >' };
  expect(await writeInEditor('text', env, signal)).toBe('x'.repeat(8388608));
});

test('line ends of an editor that writes CRLF become LF, unless the text had CRLF before', async () => {
  const env = { ...process.env, VISUAL: 'printf "one\\r\\ntwo\\rthree\\r\\n\\r\\n" >' };
  expect(await writeInEditor('text', env, signal)).toBe('one\ntwo\rthree');
  const unchanged = { ...process.env, VISUAL: 'true' };
  expect(await writeInEditor('a\r\nb', unchanged, signal)).toBe('a\r\nb');
});

test.each([
  [
    'bytes that are not UTF-8',
    'printf "caf\\351" > "$1"',
    'has the byte 0xe9, which is not UTF-8, at offset 3.',
  ],
  ['a NUL byte', 'printf "a\\000b" > "$1"', 'has a NUL byte at offset 1.'],
])('a text with %s is refused, and the file stays', async (_what, script, fault) => {
  const { message } = await failureOf(script);
  const file = fileIn(message, /^(\S+) /);
  expect(message).toBe(`${file} ${fault}`);
  expect(existsSync(file)).toBe(true);
  rmSync(dirname(file), { recursive: true });
});

test('a pipe in place of the file is refused without a wait for a writer', async () => {
  const { message } = await failureOf('rm "$1" && mkfifo "$1"');
  const file = fileIn(message, /^(\S+) is not a regular file\.$/);
  rmSync(dirname(file), { recursive: true });
});

test('a file that the editor removed is not reported as kept, and leaves no directory', async () => {
  const { message, hint } = await failureOf('rm "$1"');
  const file = fileIn(message, /^(\S+) cannot be read \(ENOENT\)\.$/);
  expect(hint).toBe('The editor removed it.');
  expect(existsSync(dirname(file))).toBe(false);
});

test.each([
  ['fails', 'return 3', 'ended with status 3'],
  ['is killed', 'kill -9 $$', 'was killed (SIGKILL)'],
])(
  'the text of an editor that %s after it wrote is kept, and its file is named',
  async (_what, end, ended) => {
    const { message, hint } = await failureOf(`echo a long text > "$1"; ${end}`);
    expect(message).toBe(`The editor ${ended}, so its text is not used.`);
    const file = fileIn(hint, /^The text is kept in (\S+)$/);
    expect(readFileSync(file, 'utf8')).toBe('a long text\n');
    rmSync(dirname(file), { recursive: true });
  },
);

const disk = SmallDisk.mount();
afterAll(() => disk?.unmount());
test.skipIf(disk === null)('a full disk of temporary files is named, and nothing is left on it', async () => {
  vi.stubEnv('TMPDIR', disk?.path);
  disk?.fill(0);
  const { code, message } = await failureOf('return 0');
  vi.unstubAllEnvs();
  expect(code).toBe('STORAGE_FULL');
  expect(message).toBe(`There is no room to write ${disk?.path}. It was not changed.`);
  expect(readdirSync(disk?.path ?? '')).toEqual(['ballast']);
});

test('an editor that fails without a change leaves nothing', async () => {
  const env = { ...process.env, VISUAL: 'false' };
  expect(await writeInEditor('text', env, signal)).toBe(null);
});
