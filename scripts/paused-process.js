// Stops a process in the middle of its chat for 20 s, longer than the default lease of 15 s, and continues it:
// `node scripts/paused-process.js [--lease MS] [--stop MS]`. The suite has a short form.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadedModules } from './bundled-modules.js';
import { readOptions, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const { lease: turnLeaseMs, stop: stopMs } = readOptions({
  lease: wholeNumber(15_000),
  stop: wholeNumber(20_000),
});
if (stopMs <= turnLeaseMs) throw new Error('--stop takes a number above --lease.');

const place = temporaryDirectory();
const { bundleChattingProcess, runPausedProcess, faultsOf } = await loadedModules(place, [
  'test/support/paused-process.ts',
]);
const scripts = join(place, 'process');
mkdirSync(scripts);
const script = await bundleChattingProcess(scripts);
for (const withKey of [true, false]) {
  const directory = join(place, `data-${withKey}`);
  const report = await runPausedProcess(script, { directory, turnLeaseMs, stopMs, withKey });
  const faults = faultsOf(report);
  const { stoppedAfterMs, stored } = report;
  process.stdout.write(`${JSON.stringify({ withKey, stoppedAfterMs, stored, faults }, null, 2)}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
