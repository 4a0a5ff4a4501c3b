// The scripts that measure deletions and long batches, with small numbers: they run to the end and print a figure for each case. The figures are
// not checked, because this machine may be busy.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

async function reportOf(script: string, words: readonly string[]) {
  const path = fileURLToPath(new URL(`../../scripts/${script}`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [path, ...words, '--json']);
  return JSON.parse(stdout);
}

test('bench-deletes.js measures deletions embedded, served and one by one, and their memory', async () => {
  const sizes = ['--ids', '100', '--memory-ids', '500', '--single-ids', '20', '--curl-ids', '4'];
  const { cases, machine } = await reportOf('bench-deletes.js', [...sizes, '--rounds', '1']);
  expect(machine.bareNodeMilliseconds).toBeGreaterThan(0);
  expect(cases.map(({ name }: { name: string }) => name)).toEqual([
    'embedded, 100 ids, to better-sqlite3',
    'served, 100 ids in batches, a second',
    'single DELETEs, of autocannon',
    'single DELETEs, to xargs -P8 curl',
    'embedded, 500 ids, MB at most',
  ]);
  // Such a short run takes little longer than the start, which is subtracted, so its rate may be any number on a busy machine.
  for (const { median, plain } of cases) {
    expect(Number.isFinite(median)).toBe(true);
    expect(Number.isFinite(plain)).toBe(true);
  }
  expect(cases[4].median).toBeLessThanOrEqual(120);
}, 120_000);

test('batch-memory.js feeds a batch, checks each result, and measures the memory meanwhile', async () => {
  const report = await reportOf('batch-memory.js', ['--lines', '1000', '--concurrency', '64']);
  expect(report).toMatchObject({ lines: 1000, concurrency: 64 });
  const [firstHalf, secondHalf] = report.halves;
  expect(report.isFlat).toBe(secondHalf <= firstHalf + 24);
  expect(report.at.map(({ lines }: { lines: number }) => lines)).toEqual([100, 500, expect.any(Number)]);
  for (const { megabytes } of report.at) expect(megabytes).toBeGreaterThan(10);
  expect(report.perSecond).toBeGreaterThan(0);
}, 120_000);
