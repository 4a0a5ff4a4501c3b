// Tests `sessions delete` with random files of ids, valid and invalid: `node scripts/id-file-fuzz.js [--files N]`. A valid file must delete the
// sessions that it names; a file with a single fault must delete nothing. The first file that does anything else is printed, minimised.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadedModules } from './bundled-modules.js';

const { values } = parseArgs({ options: { files: { type: 'string', default: '10000' } } });
const files = Number(values.files);
if (!Number.isInteger(files) || files < 1) throw new Error('--files must be a positive integer.');

const home = mkdtempSync(join(tmpdir(), 'parley-fuzz-'));
try {
  const { fuzzIdFiles } = await loadedModules(home, ['test/support/id-file-fuzz.ts']);
  const report = await fuzzIdFiles(home, files);
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
} finally {
  rmSync(home, { recursive: true, force: true });
}
