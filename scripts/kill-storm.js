// Kills chats at random moments and compares the store with what they had acknowledged: `node scripts/kill-storm.js [--rounds N]
// [--at-once N] [--batch]`, after a build. `--batch`: kills batches instead, resumes them after each kill, and also checks their outputs. The suite has
// a short form.
import { loadedModules } from './bundled-modules.js';
import { flag, readOptions, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const {
  rounds: kills,
  atOnce,
  batch,
} = readOptions({ rounds: wholeNumber(1000), 'at-once': wholeNumber(4), batch: flag });

const home = temporaryDirectory();
const { Place, killStorm, batchStorm, driversOfRun } = await loadedModules(home, [
  'test/support/parley.ts',
  'test/support/driver.ts',
  'test/support/kill-storm.ts',
  'test/support/batch-storm.ts',
]);
const place = new Place();
const { random } = Math;
const report = batch
  ? await batchStorm(place, { kills, lines: 1000, inSession: false, random })
  : await killStorm(place, { kills, atOnce, sharedSessions: 3, drivers: driversOfRun, random });
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
if (report.faults.length === 0) place.remove();
else {
  process.stderr.write(`The store is kept: ${place.storeFile}\n`);
  process.exitCode = 1;
}
