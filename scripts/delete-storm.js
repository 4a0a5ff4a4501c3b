// Deletes at full size against a server that fails in every way, and by clients that are killed at random moments:
// `node scripts/delete-storm.js [--ids N] [--kills N] [--killed-ids N]`, after a build. The suite does the same in short.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
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

const { ParleyPlace, troubledDeletes, killedDeletes, fillStore } = await loaded();
const random = Math.random;
const reports = [];
const troubled = new ParleyPlace(root);
reports.push({ storm: 'failing server', ...(await troubledDeletes(troubled, { ids, random })) });
troubled.remove();
const killed = new ParleyPlace(root);
await killed.output(['models']);
const existing = fillStore(killed.storePath, killedIds + 1);
reports.push({
  storm: 'killed clients',
  ...(await killedDeletes(killed, { ids: killedIds, kills, existing, random })),
});
killed.remove();
for (const report of reports) {
  const faults = report.faults.slice(0, 20);
  process.stdout.write(`${JSON.stringify({ ...report, faults }, null, 2)}\n`);
}
if (reports.some(({ faults }) => faults.length > 0)) process.exitCode = 1;

/** The storm is TypeScript, as the suite has it; Node 20 runs none. */
async function loaded() {
  const directory = mkdtempSync(join(tmpdir(), 'parley-storm-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    const load = async (name) => {
      const file = join(directory, `${name}.mjs`);
      await build({
        input: join(root, `test/support/${name}.ts`),
        platform: 'node',
        external: ['better-sqlite3'],
        logLevel: 'warn',
        output: { file, format: 'esm', codeSplitting: false },
      });
      return import(pathToFileURL(file).href);
    };
    return {
      ...(await load('parley-place')),
      ...(await load('delete-storm')),
      ...(await load('stored-sessions')),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
