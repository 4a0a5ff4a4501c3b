// Runs of retention that are stopped at random moments: the runs after them do all that is to be done, one batch has all of it, the audit log
// names each session once, and restoring the batch takes all of it back.

import { endOf, type Place, type Variables } from './parley.ts';
import type { PostgresDatabase } from './postgres-server.ts';
import { lookInto } from './raw-database.ts';

export interface RetentionStorm {
  readonly runs: number;
  readonly kills: number;
  readonly faults: readonly string[];
}

/** Where the sessions are. */
export interface StormStore {
  /** For the program. */
  readonly env: Variables;
  /** Of the tables, in SQL. */
  readonly schema: string;
  rows(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** SQL for so many sessions, the oldest first; the time (ms) of the first is given. */
  fill(sessions: number, firstTime: number): Promise<void>;
  /** Stops a run: it ends the process, or what the process needs. */
  stop(child: { kill(signal: 'SIGKILL'): boolean }): Promise<void>;
}

const ageMs = 100 * 24 * 60 * 60 * 1000;

export function sqliteStorm(place: Place): StormStore {
  return {
    ...{ env: {}, schema: 'main' },
    rows: async (sql) => place.rows(sql),
    async fill(sessions, firstTime) {
      lookInto(place.storeFile, (database) => {
        database.pragma('synchronous = OFF');
        database.pragma('cache_size = -200000');
        database.exec(`
          WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${sessions})
          INSERT INTO sessions (session_id, project, title, created_at, updated_at, pinned, archived)
          SELECT 'ses_' || printf('%026d', number), 1, 'title ' || number, ${firstTime} + number, ${firstTime} + number, 0, 0
          FROM numbers;
          UPDATE sessions SET updated_at = updated_at + ${ageMs} WHERE id % 100 = 0;
          UPDATE sessions SET pinned = 1 WHERE id % 1000 = 1;
          UPDATE sessions SET archived = 1 WHERE id % 100 = 2;`);
      });
    },
    async stop(child) {
      child.kill('SIGKILL');
    },
  };
}

/** Every other stop ends the connections of the process, not the process. */
export function postgresStorm(
  { rows }: Pick<PostgresDatabase, 'rows'>,
  url: string,
  schema = 'parley',
): StormStore {
  const sessions = `${schema}.sessions`;
  let stops = 0;
  return {
    ...{ env: { PARLEY_STORE: url }, schema },
    rows: async (sql) => (await rows(sql)) as readonly Readonly<Record<string, unknown>>[],
    async fill(count, firstTime) {
      await rows(`
        INSERT INTO ${sessions} (session_id, project, title, created_at, updated_at, pinned, archived)
        SELECT 'ses_' || lpad(number::text, 26, '0'), (SELECT min(id) FROM ${schema}.projects), 'title ' || number,
          ${firstTime} + number + CASE WHEN number % 100 = 0 THEN ${ageMs} ELSE 0 END,
          ${firstTime} + number + CASE WHEN number % 100 = 0 THEN ${ageMs} ELSE 0 END,
          number % 1000 = 1, number % 100 = 2
        FROM generate_series(1, ${count}) AS number`);
      await rows(`VACUUM ANALYZE ${sessions}`);
    },
    async stop(child) {
      stops += 1;
      if (stops % 2 === 1) child.kill('SIGKILL');
      else
        await rows(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`);
    },
  };
}

/** A store with old sessions and a policy. Of the sessions, one in a thousand is pinned, and one in a hundred is young. */
export async function oldStore(
  place: Place,
  sessions: number,
  store = sqliteStorm(place),
): Promise<{ readonly expire: number }> {
  const { env } = store;
  await place.output(['keys', 'create', '--project', 'default', '--use'], { env });
  await store.fill(sessions, Date.now() - ageMs - sessions);
  await place.output(['retention', 'set', '--after', '90d'], { env });
  const plan = await place.answer<{ expire: number }>(['retention', 'run', '--dry-run'], { env });
  return { expire: plan.expire };
}

/** A run is stopped when it has expired some sessions more. */
export async function killedRuns(
  place: Place,
  { expire, kills: most, pauseMs }: { readonly expire: number; readonly kills: number; pauseMs(): number },
  store = sqliteStorm(place),
): Promise<RetentionStorm> {
  const { env, schema } = store;
  const faults: string[] = [];
  const expired = () => countOf(store, 'expired IS NOT NULL');
  let [runs, kills] = [0, 0];
  let words = ['retention', 'run', '--confirm', String(expire)];
  for (let isOver = false; !isOver; ) {
    const before = await expired();
    const child = place.spawn(words, { env });
    const ended = endOf(child);
    let isRunning = true;
    void ended.then(() => {
      isRunning = false;
    });
    let isStopped = false;
    if (kills < most) {
      while (isRunning && (await expired()) <= before) await pause(5);
      await pause(pauseMs());
      isStopped = isRunning;
      await store.stop(child);
    }
    const end = await ended;
    runs += 1;
    // A run whose connections end may end, or go on over others.
    if (isStopped) kills += 1;
    else if (end.status !== 0) faults.push(`ended with ${end.status}`);
    if (runs > most + 20) faults.push('never ended');
    isOver = end.status === 0 || faults.length > 0;
    if ((await expired()) > 0) words = ['retention', 'run', '--yes'];
  }
  if ((await expired()) !== expire) faults.push(`${await expired()} expired, not ${expire}`);
  const batches = await store.rows(`SELECT batch, expired, ended_at FROM ${schema}.retention_runs`);
  const [batch] = batches;
  if (batches.length !== 1 || Number(batch?.['expired']) !== expire || batch?.['ended_at'] === null)
    faults.push(`the batches are ${JSON.stringify(batches)}`);
  await place.output(['sessions', 'restore', '--batch', String(batch?.['batch'])], { env });
  const left = await countOf(store, 'deleted_at IS NOT NULL OR expired IS NOT NULL');
  if (left !== 0) faults.push(`${left} did not come back`);
  for (const what of ['expire', 'restore']) {
    const told = await toldSessions(place, what, env);
    if (told.length !== expire || new Set(told).size !== expire)
      faults.push(`the audit log has ${told.length} of ${what}, ${new Set(told).size} distinct`);
  }
  return { runs, kills, faults };
}

async function countOf({ rows, schema }: StormStore, where: string): Promise<number> {
  const [row] = await rows(`SELECT count(*) AS count FROM ${schema}.sessions WHERE ${where}`);
  return Number(row?.['count']);
}

async function toldSessions(place: Place, what: string, env: Variables): Promise<readonly string[]> {
  const text = await place.output(['audit', 'export', '--what', what], { env });
  return text
    .split('\n')
    .filter(Boolean)
    .flatMap((line) => JSON.parse(line).ids);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
