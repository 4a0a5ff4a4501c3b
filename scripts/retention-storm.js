// Retention at full size: its time and memory against the same updates in raw SQL, then runs that are killed at random moments:
// `node scripts/retention-storm.js [--sessions N] [--kills N] [--killed-sessions N]`, after a build. The suite does the kills in short.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { loadedModules } from './bundled-modules.js';

/** The most time of a run, in multiples of raw SQL, and the most memory (MiB) that a larger store may add. */
const mostRatio = 3;
const mostMoreMiB = 30;

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000000' },
    kills: { type: 'string', default: '10' },
    'killed-sessions': { type: 'string', default: '100000' },
  },
});
const [sessions, kills, killedSessions] = [values.sessions, values.kills, values['killed-sessions']].map(
  Number,
);
if (!(sessions >= 1000 && kills >= 0 && killedSessions >= 1000))
  throw new Error('--sessions, --kills and --killed-sessions take numbers.');

const home = mkdtempSync(join(tmpdir(), 'parley-storm-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
const { Place, killedRuns, oldStore } = await loadedModules(home, [
  'test/support/parley.ts',
  'test/support/retention-storm.ts',
]);

const small = await measured(1000);
const large = await measured(sessions);
const more = large.mebibytes - small.mebibytes;
const isWell = large.seconds <= mostRatio * large.raw && more <= mostMoreMiB;
process.stdout.write(
  `${JSON.stringify({ sessions, ...large, ratio: large.seconds / large.raw, more }, null, 2)}\n`,
);

if (kills > 0) {
  const place = new Place();
  const { expire } = await oldStore(place, killedSessions);
  const report = await killedRuns(place, { expire, kills, pauseMs: () => Math.random() * 300 });
  place.remove();
  process.stdout.write(`${JSON.stringify({ expire, ...report }, null, 2)}\n`);
  if (report.faults.length > 0) process.exitCode = 1;
}
if (!isWell) process.exitCode = 1;

/** Seconds of raw SQL and of a run, and the most memory of the run. */
async function measured(count) {
  const place = new Place();
  try {
    const { expire } = await oldStore(place, count);
    const copy = join(home, 'raw.db');
    copyFileSync(place.storeFile, copy);
    const raw = rawUpdates(copy) / 1000;
    rmSync(copy);
    const memory = join(home, 'memory.cjs');
    writeFileSync(
      memory,
      `process.on('exit', () => process.stderr.write('peak ' + process.resourceUsage().maxRSS + '\\n'))`,
    );
    const began = performance.now();
    const run = await place.parley(['retention', 'run', '--confirm', String(expire), '--json'], {
      env: { NODE_OPTIONS: `--require ${memory}` },
    });
    const seconds = (performance.now() - began) / 1000;
    if (run.status !== 0) throw new Error(run.err);
    const mebibytes = Number(/peak (\d+)/.exec(run.err)?.[1]) / 1024;
    return { expire, raw, seconds, mebibytes };
  } finally {
    place.remove();
  }
}

/** The time (ms) of the same updates in raw SQL: one statement in one transaction, with the sync of the store. */
function rawUpdates(path) {
  const database = new Database(path);
  try {
    database.pragma('synchronous = FULL');
    const began = performance.now();
    database.exec(`
      UPDATE sessions SET deleted_at = 1, expired = 999999 WHERE project = 1 AND deleted_at IS NULL AND pinned = 0
        AND updated_at < (SELECT max(updated_at) FROM sessions) - 50 * 86400000`);
    return performance.now() - began;
  } finally {
    database.close();
  }
}
