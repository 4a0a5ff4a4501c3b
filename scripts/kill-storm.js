// Kills chats at random moments and compares the store with what they had acknowledged: `node scripts/kill-storm.js [--rounds N]
// [--at-once N]`, after a build. `--batch`: kills batches instead, resumes them after each kill, and also checks their outputs. The suite has
// a short form.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadedModules } from './bundled-modules.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1000' },
    'at-once': { type: 'string', default: '4' },
    batch: { type: 'boolean', default: false },
  },
});
const kills = Number(values.rounds);
const atOnce = Number(values['at-once']);
if (!(kills >= 1 && atOnce >= 1)) throw new Error('--rounds and --at-once take numbers from 1.');

const home = mkdtempSync(join(tmpdir(), 'parley-storm-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
const { Place, killStorm, batchStorm, driversOfRun } = await loadedModules(home, [
  'test/support/parley.ts',
  'test/support/driver.ts',
  'test/support/kill-storm.ts',
  'test/support/batch-storm.ts',
]);
const place = new Place();
const { random } = Math;
const report = values.batch
  ? await batchStorm(place, { kills, lines: 1000, inSession: false, random })
  : await killStorm(place, { kills, atOnce, sharedSessions: 3, drivers: driversOfRun, random });
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
if (report.faults.length === 0) place.remove();
else {
  process.stderr.write(`The store is kept: ${place.storeFile}\n`);
  process.exitCode = 1;
}
