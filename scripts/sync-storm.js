// Syncs places after random edits, in any order, and checks that all converge to the same sessions and that nothing is lost:
// `node scripts/sync-storm.js [--sequences 10000] [--places 2] [--steps 24] [--seed N] [--seconds S]`. The stores are in a directory in
// memory. It stops after `--seconds` and prints how many sequences were run; the suite runs a few.
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { loadedModules } from './bundled-modules.js';
import { readOptions, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const {
  sequences,
  places: count,
  steps: longest,
  seed,
  seconds = Number.POSITIVE_INFINITY,
} = readOptions({
  sequences: wholeNumber(10_000),
  places: wholeNumber(2, { from: 2 }),
  steps: wholeNumber(24),
  seed: wholeNumber(Date.now() % 1e9, { from: 0 }),
  seconds: wholeNumber(),
});
if (count > 3) throw new Error('--places is 2 or 3.');

/** The sequences per set of stores, which grow with each project. */
const together = 50;

// On a disk, the files of the places would take more time than the rest.
const home = temporaryDirectory(existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
process.env.TMPDIR = home;
const { SyncedPlaces, expectConvergence } = await loadedModules(home, [
  'test/support/sync-sequences.ts',
  'test/support/synced-places.ts',
]);
const start = performance.now();
let done = 0;
for (let slice = 0; done < sequences && performance.now() - start < seconds * 1000; slice += 1) {
  const places = await SyncedPlaces.open([0, 40, -25].slice(0, count));
  const numRuns = Math.min(together, sequences - done);
  try {
    await expectConvergence(places, count, { numRuns, seed: seed + slice, longest });
  } finally {
    await places.close();
  }
  done += numRuns;
}
const { userCPUTime, systemCPUTime } = process.resourceUsage();
const cpu_seconds = Math.round((userCPUTime + systemCPUTime) / 1e6);
process.stdout.write(
  `${JSON.stringify({ sequences: done, places: count, steps: longest, seed, cpu_seconds })}\n`,
);
