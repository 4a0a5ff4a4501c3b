// As many files of ids, right and wrong in every way, as one likes: `node scripts/id-file-fuzz.js [--files N]`. A file that is valid
// must delete what it names, one with a single fault nothing. The first that does another thing is printed, as small as it can be.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadedModules } from './bundled-modules.js';

const { values } = parseArgs({ options: { files: { type: 'string', default: '10000' } } });
const files = Number(values.files);
if (!Number.isInteger(files) || files < 1) throw new Error('--files takes a whole number from 1.');

const home = mkdtempSync(join(tmpdir(), 'parley-fuzz-'));
try {
  const { fuzzIdFiles } = await loadedModules(home, ['test/support/id-file-fuzz.ts']);
  const report = await fuzzIdFiles(home, files);
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
} finally {
  rmSync(home, { recursive: true, force: true });
}
