// The list of ids of a batch: in order, with repetitions detected, in bounded memory.
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { IdList } from '../../../src/cli/session-batch/id-list.ts';
import { runs } from '../../support/runs.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

function newList(): { readonly list: IdList; readonly opened: () => boolean } {
  const path = join(temporaryDirectory(), 'ids');
  let file: number | null = null;
  onTestFinished(() => {
    if (file !== null) closeSync(file);
  });
  const list = new IdList({
    open() {
      file = openSync(path, 'ax+');
      return file;
    },
    failure: (error) => error,
    random: Math.random,
  });
  return { list, opened: () => file !== null };
}

/** The expected result, computed in the simplest way. */
function plainly(ids: readonly string[]) {
  const seen = new Map<string, number>();
  return ids.map((id) => {
    if (seen.has(id)) return { id, number: -1 };
    seen.set(id, seen.size);
    return { id, number: seen.size - 1 };
  });
}

test('ids of any length and form are read in order, with numbers for the distinct ones', () => {
  const id = fc.oneof(
    fc.constantFrom('a', 'b', 'ses_1', 'é', '日本', '😀', 'x'.repeat(255), '😀'.repeat(255)),
    fc.stringMatching(/^[!-~]{1,12}$/),
  );
  fc.assert(
    fc.property(fc.array(id, { maxLength: 300 }), (ids) => {
      const list = new IdList({
        open() {
          throw new Error('There is no need of a file.');
        },
        failure: (error) => error,
        random: Math.random,
      });
      expect(ids.map((one) => list.add(one))).toEqual(plainly(ids).map(({ number }) => number >= 0));
      expect([...list.entries()]).toEqual(plainly(ids));
      expect(list.count).toBe(new Set(ids).size);
    }),
    { numRuns: runs(60, 1_000) },
  );
});

test('ids that exceed the memory limit are written to a file, and repetitions are found there, too', () => {
  const { list, opened } = newList();
  const ids = Array.from({ length: 60_000 }, (_, index) => `ses_${(index * 7919) % 50_000}_of_a_long_list`);
  for (const id of ids) list.add(id);
  expect(opened()).toBe(true);
  expect(list.count).toBe(50_000);
  expect([...list.entries()]).toEqual(plainly(ids));
  expect(list.ends(2)).toEqual({ first: ids.slice(0, 2), last: ids.slice(49_998, 50_000) });
});

/** 512 ids with the same FNV-1a hash: the two parts of each pair lead from one state to the same other one. */
function sameByFnv(): readonly string[] {
  const pairs = [['h9Gc', 'THad'], ['O0Cc', 'sAad'], ...Array(7).fill(['Q9Cc', 'MHad'])];
  return pairs.reduce<string[]>(
    (ids, pair) => ids.flatMap((id) => pair.map((part: string) => id + part)),
    [''],
  );
}

test('ids that a server has chosen for equal hashes are distributed evenly', () => {
  const ids = sameByFnv();
  expect(new Set(ids).size).toBe(512);
  const { list } = newList();
  const compared = vi.spyOn(Buffer.prototype, 'equals');
  for (const id of ids) list.add(id);
  expect(list.count).toBe(512);
  // Comparing each id with all others would take 130,816 comparisons.
  expect(compared.mock.calls.length).toBeLessThan(5000);
  compared.mockRestore();
});
