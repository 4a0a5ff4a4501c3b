// A file is read up to a limit. One without an end is refused, and the wait for the writer of a pipe can be stopped.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readAtMost } from '../../src/system/bounded-file.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const { signal } = new AbortController();

test('a file within the limit is read whole, a longer one is refused', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'file');
  const text = 'é'.repeat(100_000);
  writeFileSync(path, text);
  expect(Buffer.from(await readAtMost(path, 200_000, signal)).toString()).toBe(text);
  await expect(readAtMost(path, 199_999, signal)).rejects.toThrow('more than 199999 bytes: 200000');
  await expect(readAtMost(join(directory, 'none'), 1, signal)).rejects.toThrow('ENOENT');
  await expect(readAtMost(directory, 1, signal)).rejects.toThrow('EISDIR');
});

test.runIf(process.platform === 'linux')(
  'a device without an end is refused, one without bytes is empty',
  async () => {
    await expect(readAtMost('/dev/zero', 1_000_000, signal)).rejects.toThrow('more than 1000000 bytes');
    expect(await readAtMost('/dev/null', 1, signal)).toHaveLength(0);
  },
);

test.runIf(process.platform !== 'win32')(
  'a pipe is read when its writer comes, and not waited for after a stop',
  async () => {
    const path = join(temporaryDirectory(), 'pipe');
    execFileSync('mkfifo', [path]);
    const text = readAtMost(path, 10, signal);
    await writeFile(path, 'text');
    expect(Buffer.from(await text).toString()).toBe('text');
    const stop = new AbortController();
    const waiting = readAtMost(path, 10, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  },
);
