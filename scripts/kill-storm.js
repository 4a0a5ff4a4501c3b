// Kills chats at random moments and holds the store against what they had acknowledged, for as long as one likes:
// `node scripts/kill-storm.js [--rounds N] [--at-once N]`, after a build. With `--batch`, batches instead, which are resumed after each
// kill, and their outputs too. The suite does the same in short.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
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

const { ParleyPlace, killStorm, batchStorm } = await loadStorm();
const place = new ParleyPlace(root);
const { random } = Math;
const report = values.batch
  ? await batchStorm(place, { kills, lines: 1000, inSession: false, random })
  : await killStorm(place, { kills, atOnce, sharedSessions: 3, random });
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
if (report.faults.length === 0) place.remove();
else {
  process.stderr.write(`The store is kept: ${place.storePath}\n`);
  process.exitCode = 1;
}

/** The storm is TypeScript, as the suite has it; Node 20 runs none. */
async function loadStorm() {
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
    return { ...(await load('parley-place')), ...(await load('kill-storm')), ...(await load('batch-storm')) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
