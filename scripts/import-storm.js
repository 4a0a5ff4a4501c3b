// Kills imports at random moments, resumes them, and compares the store with an undisturbed import:
// `node scripts/import-storm.js [--kills 50] [--conversations 400]`, after a build. The suite has a short form.
import { loadedModules } from './bundled-modules.js';
import { readOptions, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const { kills, conversations } = readOptions({ kills: wholeNumber(50), conversations: wholeNumber(400) });

const home = temporaryDirectory();
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
