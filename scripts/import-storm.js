// Kills imports at random moments, resumes them, and compares the store with an undisturbed import:
// `node scripts/import-storm.js [--kills 50] [--conversations 400]`, after a build. The suite has a short form.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadedModules } from './bundled-modules.js';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    conversations: { type: 'string', default: '400' },
  },
});
const kills = Number(values.kills);
const conversations = Number(values.conversations);
if (!(kills >= 1 && conversations >= 1)) throw new Error('--kills and --conversations take numbers from 1.');

const home = mkdtempSync(join(tmpdir(), 'parley-import-storm-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
const { Place, importStorm } = await loadedModules(home, [
  'test/support/parley.ts',
  'test/support/import-storm.ts',
]);
const places = [];
const make = () => {
  places.push(new Place());
  return places.at(-1);
};
const report = await importStorm(make, { kills, conversations, random: Math.random });
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
if (report.faults.length > 0) {
  process.stderr.write(`The stores are kept: ${places.map(({ storeFile }) => storeFile).join(' ')}\n`);
  process.exitCode = 1;
} else for (const place of places) place.remove();
