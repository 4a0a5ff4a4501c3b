// Stops a process in the middle of its chat for 20 s, longer than the default lease of 15 s, and continues it:
// `node scripts/paused-process.js [--lease MS] [--stop MS]`. The suite has a short form.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadedModules } from './bundled-modules.js';

const { values } = parseArgs({
  options: {
    lease: { type: 'string', default: '15000' },
    stop: { type: 'string', default: '20000' },
  },
});
const [turnLeaseMs, stopMs] = [Number(values.lease), Number(values.stop)];
if (!(turnLeaseMs >= 1 && stopMs > turnLeaseMs)) throw new Error('--stop takes a number above --lease.');

const place = mkdtempSync(join(tmpdir(), 'parley-still-'));
process.on('exit', () => rmSync(place, { recursive: true, force: true }));
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
