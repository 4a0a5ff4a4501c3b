// A file is read up to a limit, and one without an end is not waited for.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readAtMost } from '../../src/system/bounded-file.ts';

test('a file within the limit is read whole, a longer one is refused', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-bounded-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'file');
  const text = 'é'.repeat(100_000);
  writeFileSync(path, text);
  expect(Buffer.from(readAtMost(path, 200_000)).toString()).toBe(text);
  expect(() => readAtMost(path, 199_999)).toThrow('more than 199999 bytes');
  expect(() => readAtMost(join(directory, 'none'), 1)).toThrow('ENOENT');
});

test.runIf(process.platform === 'linux')('a device without an end is refused', () => {
  expect(() => readAtMost('/dev/zero', 1_000_000)).toThrow('more than 1000000 bytes');
});
