// Syncs places after random edits, in any order, and checks that all converge to the same sessions and that nothing is lost:
// `node scripts/sync-storm.js [--sequences 10000] [--places 2] [--steps 24] [--seed N] [--seconds S]`. The stores are in a directory in
// memory. It stops after `--seconds` and prints how many sequences were run; the suite runs a few.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadedModules } from './bundled-modules.js';

const { values } = parseArgs({
  options: {
    sequences: { type: 'string', default: '10000' },
    places: { type: 'string', default: '2' },
    steps: { type: 'string', default: '24' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    seconds: { type: 'string', default: 'Infinity' },
  },
});
const sequences = Number(values.sequences);
const count = Number(values.places);
const longest = Number(values.steps);
const seed = Number(values.seed);
const seconds = Number(values.seconds);
if (!(sequences >= 1 && [2, 3].includes(count) && longest >= 1 && Number.isInteger(seed) && seconds > 0))
  throw new Error(
    '--sequences, --steps and --seconds take a number from 1, --places 2 or 3, --seed a whole number.',
  );

/** The sequences per set of stores, which grow with each project. */
const together = 50;

// On a disk, the files of the places would take more time than the rest.
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const home = mkdtempSync(join(memory, 'parley-sync-storm-'));
process.env.TMPDIR = home;
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
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
