// The file that an external editor writes: read within bounds, and left to its writer if it cannot be read.
import { existsSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { writeInEditor } from '../../../src/cli/repl/external-editor.ts';
import type { ParleyError } from '../../../src/service/errors.ts';

const { signal } = new AbortController();

test('a text of 100 MiB is refused with its size, and the file stays', async () => {
  const env = { ...process.env, VISUAL: 'truncate -s 100M' };
  const error = await writeInEditor('text', env, signal).then(
    () => expect.unreachable(),
    (reason: ParleyError) => reason,
  );
  const [, file = ''] =
    /^(\S+) cannot be read \(more than 8388608 bytes: 104857600\)\.$/.exec(error.message) ?? [];
  expect(error.code).toBe('CONFIG');
  expect(error.hint).toBe('Shorten the file, or replace it.');
  expect(existsSync(file)).toBe(true);
  expect(statSync(file).size).toBe(104857600);
  rmSync(dirname(file), { recursive: true });
});

test('a text of 8 MiB comes back whole', async () => {
  const env = { ...process.env, VISUAL: 'head -c 8388608 /dev/zero | tr "\\0" x >' };
  expect(await writeInEditor('text', env, signal)).toBe('x'.repeat(8388608));
});
