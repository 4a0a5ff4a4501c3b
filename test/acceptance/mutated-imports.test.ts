// Damaged files of other programs: cut, flipped, reordered or repeated anywhere. No other session is affected, and each failure names its place.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importFixtures } from '../support/import-fixtures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { runs } from '../support/runs.ts';

let place: PlaceInProcess;
beforeAll(() => {
  place = new PlaceInProcess();
});
afterAll(() => place.remove());

type Mutation = readonly [kind: 'cut' | 'flip' | 'move' | 'repeat', at: number, more: number];

const mutation = fc.tuple(
  fc.constantFrom<Mutation[0]>('cut', 'flip', 'move', 'repeat'),
  fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  fc.nat(255),
);

function mutated(bytes: Buffer, [kind, where, more]: Mutation): Buffer {
  const at = Math.floor(where * bytes.length);
  const length = Math.min(bytes.length - at, 1 + more);
  const part = bytes.subarray(at, at + length);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at + length)];
  switch (kind) {
    case 'cut':
      return more % 2 === 0 ? before : Buffer.concat([before, after]);
    case 'flip':
      return Buffer.concat([before, Buffer.from([(bytes[at] ?? 0) ^ (more || 1)]), bytes.subarray(at + 1)]);
    case 'move':
      return Buffer.concat([before, after, part]);
    case 'repeat':
      return Buffer.concat([before, ...Array.from({ length: 1 + more }, () => part), after]);
  }
}

/** Damaged files of one import. */
const together = 10;

/** The output has only results with an id or a place. */
const resultForm = /^(imported|unchanged|grown|skipped|failed) \S/;

describe.each(importFixtures)('$name', ({ source, file }) => {
  const bytes = readFileSync(file);

  test('damaged files give complete sessions or a failure with its place', async () => {
    const damages = fc.array(mutation, { minLength: 1, maxLength: 3 });
    const files = fc.array(damages, { minLength: together, maxLength: together });
    await fc.assert(
      fc.asyncProperty(files, async (each) => {
        const folder = join(place.path, 'damaged');
        for (const [number, mutations] of each.entries()) {
          const own = join(folder, String(number));
          mkdirSync(own, { recursive: true });
          writeFileSync(join(own, basename(file)), mutations.reduce(mutated, bytes));
        }
        const { status, out, err } = await place.parley([
          'sessions',
          'import',
          '--verbose',
          '--from',
          source,
          folder,
        ]);
        expect([0, 1, 2, 3]).toContain(status);
        expect(err).not.toMatch(/TypeError|RangeError|INTERNAL_ERROR|at .*\.ts:/);
        const lines = out.split('\n').slice(0, -1);
        for (const line of lines) expect(line).toMatch(resultForm);
        const failed = lines.filter((line) => line.startsWith('failed '));
        expect(err.match(/^At /gm) ?? []).toHaveLength(failed.length);
        rmSync(folder, { recursive: true });
      }),
      { numRuns: runs(1, 1000) },
    );
  });
});

test('all sessions of the store are complete afterwards', async () => {
  const ids = (await place.output(['sessions', 'list', '--all', '--ids'])).split('\n').slice(0, -1);
  expect(ids.length).toBeGreaterThan(0);
  const out = await place.output(['sessions', 'export', '--all', '--format', 'json']);
  for (const line of out.split('\n').slice(0, -1)) {
    const { session, messages } = JSON.parse(line);
    expect(messages).toHaveLength(session.message_count);
  }
});
