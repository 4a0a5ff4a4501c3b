// Tests `sessions delete` with random files of ids, valid and invalid: `node scripts/id-file-fuzz.js [--files N]`. A valid file must delete the
// sessions that it names; a file with a single fault must delete nothing. The first file that does anything else is printed, minimised.
import { loadedModules } from './bundled-modules.js';
import { readOptions, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const { files } = readOptions({ files: wholeNumber(10_000) });

const home = temporaryDirectory();
const { fuzzIdFiles } = await loadedModules(home, ['test/support/id-file-fuzz.ts']);
const report = await fuzzIdFiles(home, files);
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
