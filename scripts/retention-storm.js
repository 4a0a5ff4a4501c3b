// Runs retention at full size: compares its time and memory with the same updates in raw SQL, then stops runs at random moments:
// `node scripts/retention-storm.js [--postgres] [--sessions N] [--kills N] [--killed-sessions N]`, after a build. `--postgres`: uses a temporary
// server that syncs every commit; every other stop ends the connections of the run instead of its process. The suite has a short form of the
// stops.
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { openDatabase, storeIn } from './bench-postgres/database.js';
import { loadedModules } from './bundled-modules.js';
import { flag, readOptions, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

/** The limits: time in multiples of raw SQL, and memory (MiB) that a larger store may add, for garbage and a page of the audit log. */
const maxRatio = 3;
const maxMoreMiB = 64;

const { postgres, sessions, kills, killedSessions } = readOptions({
  postgres: flag,
  sessions: wholeNumber(1_000_000, { from: 1000 }),
  kills: wholeNumber(10, { from: 0 }),
  'killed-sessions': wholeNumber(100_000, { from: 1000 }),
});

const home = temporaryDirectory();
const { Place, killedRuns, oldStore, postgresStorm, sqliteStorm, startPostgres } = await loadedModules(home, [
  'test/support/parley.ts',
  'test/support/postgres-server.ts',
  'test/support/retention-storm.ts',
  'test/support/storm-store.ts',
]);
const database = postgres ? await openDatabase(undefined, startPostgres) : null;
let schemas = 0;

try {
  const small = await measured(1000);
  const large = await measured(sessions);
  const more = large.mebibytes - small.mebibytes;
  const ratio = large.run.seconds / large.raw.seconds;
  const cpuRatio = large.run.cpuSeconds / large.raw.cpuSeconds;
  report({ sessions, ...large, ratio, cpuRatio, more });
  if (ratio > maxRatio || more > maxMoreMiB) process.exitCode = 1;
  if (kills > 0) await withPlace(stopped);
} finally {
  await database?.close();
}

async function stopped(place, store) {
  const { expire } = await oldStore(place, killedSessions, store);
  const storm = { expire, kills, pauseMs: () => Math.random() * 300 };
  const outcome = await killedRuns(place, storm, store);
  report({ expire, ...outcome });
  if (outcome.faults.length > 0) process.exitCode = 1;
}

/** The time and processor time of raw SQL and of a run, in seconds, and the peak memory of the run. */
function measured(count) {
  return withPlace(async (place, store) => {
    const { expire } = await oldStore(place, count, store);
    const raw = database === null ? await rawSqlite(place.storeFile) : await rawPostgres(store.schema);
    const resources = join(home, 'resources');
    const preload = fileURLToPath(new URL('used-resources.cjs', import.meta.url));
    const before = database?.processorTime() ?? 0;
    const began = performance.now();
    const run = await place.parley(['retention', 'run', '--confirm', String(expire), '--json'], {
      env: { ...store.env, NODE_OPTIONS: `--require ${preload}`, PARLEY_BENCH_RESOURCES: resources },
    });
    const seconds = (performance.now() - began) / 1000;
    if (run.status !== 0) throw new Error(run.err);
    const used = JSON.parse(readFileSync(resources, 'utf8'));
    const cpuSeconds = used.cpuSeconds + ((database?.processorTime() ?? 0) - before) / 1000;
    return { expire, raw, run: { seconds, cpuSeconds }, mebibytes: used.megabytes };
  });
}

async function withPlace(work) {
  const place = new Place();
  schemas += 1;
  const schema = `storm_${schemas}`;
  const store =
    database === null ? sqliteStorm(place) : postgresStorm(database, storeIn(database, schema), schema);
  try {
    return await work(place, store);
  } finally {
    place.remove();
    await database?.rows(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  }
}

/** The same updates in one statement and one transaction, with the sync of the store, in a copy of the file. */
function rawSqlite(storeFile) {
  const copy = join(home, 'raw.db');
  copyFileSync(storeFile, copy);
  const raw = new Database(copy);
  try {
    raw.pragma('synchronous = FULL');
    raw.pragma('cache_size = -16000');
    return timed(() => raw.exec(updates('main')), own);
  } finally {
    raw.close();
    rmSync(copy);
  }
}

/** Updates the table itself; then restores its earlier rows, and frees the space of the others. */
async function rawPostgres(schema) {
  const raw = await timed(() => database.rows(updates(schema)), database.processorTime);
  await database.rows(
    `UPDATE ${schema}.sessions SET deleted_at = NULL, expired = NULL WHERE expired = 999999`,
  );
  await database.rows(`VACUUM FULL ${schema}.sessions`);
  await database.rows(`VACUUM ANALYZE ${schema}.sessions`);
  await database.rows('CHECKPOINT');
  return raw;
}

function updates(schema) {
  return `
    UPDATE ${schema}.sessions SET deleted_at = 1, expired = 999999
    WHERE deleted_at IS NULL AND NOT pinned
      AND updated_at < (SELECT max(updated_at) FROM ${schema}.sessions) - 4320000000`;
}

async function timed(work, processorTime) {
  const [cpu, began] = [processorTime(), performance.now()];
  await work();
  return { seconds: (performance.now() - began) / 1000, cpuSeconds: (processorTime() - cpu) / 1000 };
}

/** The processor time of this process in ms. */
function own() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function report(figures) {
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
}
