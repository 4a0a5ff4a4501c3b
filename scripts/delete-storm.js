// Deletes at full size against a server that fails in every way; deletes, archives and tags by clients that are killed at random moments:
// `node scripts/delete-storm.js [--ids N] [--kills N] [--killed-ids N]`, after a build. The suite does the same in short.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadedModules } from './bundled-modules.js';

const { values } = parseArgs({
  options: {
    ids: { type: 'string', default: '100000' },
    kills: { type: 'string', default: '20' },
    'killed-ids': { type: 'string', default: '100000' },
  },
});
const [ids, kills, killedIds] = [values.ids, values.kills, values['killed-ids']].map(Number);
if (!(ids >= 100 && kills >= 1 && killedIds >= 2))
  throw new Error('--ids, --kills and --killed-ids take numbers.');

const home = mkdtempSync(join(tmpdir(), 'parley-storm-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
const { Place, troubledDeletes, killedClients, fillStore } = await loadedModules(home, [
  'test/support/parley.ts',
  'test/support/delete-storm.ts',
  'test/support/stored-sessions.ts',
]);
const random = Math.random;
const reports = [];
const troubled = new Place();
reports.push({ storm: 'failing server', ...(await troubledDeletes(troubled, { ids, random })) });
troubled.remove();
for (const kind of ['delete', 'archive', 'tag']) {
  const killed = new Place();
  await killed.output(['models']);
  const existing = fillStore(killed.storeFile, killedIds + 1);
  reports.push({
    storm: `killed clients: ${kind}`,
    ...(await killedClients(killed, { kind, ids: killedIds, kills, existing, random })),
  });
  killed.remove();
}
for (const report of reports) {
  const faults = report.faults.slice(0, 20);
  process.stdout.write(`${JSON.stringify({ ...report, faults }, null, 2)}\n`);
}
if (reports.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
