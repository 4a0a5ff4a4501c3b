// Erases sessions for good. Their rows, their words in the search index and the answers that name them are deleted while other calls run.
// PostgreSQL then still holds their bytes in places that no statement reaches: free space in its files until that is overwritten, its log
// and the archive of the log, standby servers, backups. The report says so.
import type { ErasureReport, PurgePlan } from '../../service/erasure.ts';
import type { StoreFact } from '../../service/store-fact.ts';
import { noteText } from '../audit-log.ts';
import type { PurgeFilter } from '../session-filters.ts';
import type { Purge, PurgeOptions } from '../session-store.ts';
import { auditing, isRecorded } from './audit.ts';
import type { Ask, ConnectionPool } from './connection-pool.ts';
import { isOld } from './idempotency.ts';
import { storeBytes } from './inspection.ts';
import { codeOf } from './postgres-errors.ts';
import { holding } from './retention-rows.ts';
import { dropLeftIndexes, rewriteTables } from './rewrite.ts';
import { noTurnRuns } from './servers.ts';
import { projectNumber } from './sessions.ts';
import { type Statement, statement } from './statement.ts';
import { renewStatistics } from './statistics.ts';

const sessionsAtOnce = 200;

const erasableIf = (condition: string) => `
  ${condition} AND ${noTurnRuns}
  AND ($1::text IS NULL OR session.project = ${projectNumber})`;

const purgeMark = statement(`SELECT 1 FROM parley.meta WHERE name = 'purge'`);
const begin = (condition: string) => `
  WITH audited AS (
    INSERT INTO parley.audit_waiting (entry) SELECT $1::text WHERE ${condition}
  )
  INSERT INTO parley.meta (name, value) VALUES ('purge', 'begun') ON CONFLICT (name) DO NOTHING`;
/** Takes a note for the audit log, or null. */
export const beginErasing = statement(begin('$1::text IS NOT NULL'));
const beginErasingAgain = statement(begin(`$1::text IS NOT NULL AND NOT ${isRecorded('$1::text')}`));
const endErasing = statement(`DELETE FROM parley.meta WHERE name = 'purge'`);

// The statements about the sessions that a condition selects. $1: the project, or null for all. $2: the time before which the session was
// deleted, or the user.
// `lease`: SQL for a part `held` of the WITH; nothing is locked without a row in it.
const selecting = (erasable: string, lease = '') =>
  ({
    plan: statement(`
      SELECT count(*) AS sessions, coalesce(sum(texts.messages), 0) AS messages, coalesce(sum(texts.bytes), 0) AS text_bytes
      FROM parley.sessions AS session
      CROSS JOIN LATERAL (
        SELECT count(*) AS messages, sum(octet_length(message.content)) AS bytes FROM (
          SELECT content FROM parley.messages WHERE messages.session = session.id
          UNION ALL SELECT content FROM parley.hidden_messages WHERE hidden_messages.session = session.id
        ) AS message
      ) AS texts
      WHERE ${erasable}`),
    count: statement(`SELECT count(*) AS sessions FROM parley.sessions AS session WHERE ${erasable}`),
    // Deletes the keys of the sessions' turns, the answers that name such a session, and keys that are too old ($3: how long keys count,
    // ms).
    answers: statement(`
      WITH gone AS (
        DELETE FROM parley.idempotency AS known
        WHERE ${isOld('$3::bigint')}
          OR known.session IN (SELECT session.id FROM parley.sessions AS session WHERE ${erasable})
          OR EXISTS (
            SELECT 1 FROM jsonb_path_query(known.answer::jsonb, 'strict $.**.session_id', silent => true) AS part
            JOIN parley.sessions AS session
              ON session.project = known.project AND session.session_id = part #>> '{}' AND ${erasable})
        RETURNING 1
      )
      SELECT count(*) AS answers FROM gone`),
    // Other calls may have added rows to a session while this statement waited for its lock, so the next statement deletes the rows.
    lock: statement(`
      WITH ${lease === '' ? '' : `${lease},`} next AS MATERIALIZED (
        SELECT session.id FROM parley.sessions AS session
        WHERE ${erasable} ${lease === '' ? '' : 'AND EXISTS (SELECT 1 FROM held)'}
        ORDER BY session.id LIMIT ${sessionsAtOnce} FOR UPDATE
      )
      SELECT ${lease === '' ? 1 : '(SELECT count(*) FROM held)'} AS held, (SELECT array_agg(id) FROM next) AS ids`),
  }) as const;

// $1: the row numbers of locked sessions. `more`: SQL for further parts of the WITH, about the sessions in `gone`.
const erasing = (more = '') =>
  statement(`
    WITH next AS MATERIALIZED (
      SELECT id, project FROM parley.sessions WHERE id = ANY ($1::bigint[])
    ), queued AS (
      DELETE FROM parley.to_index USING next
      WHERE to_index.project = next.project AND to_index.session = next.id
    ), parts AS (
      DELETE FROM parley.reply_parts USING next WHERE reply_parts.session = next.id
    ), texts AS (
      DELETE FROM parley.messages AS message USING next WHERE message.session = next.id RETURNING 1
    ), hidden AS (
      DELETE FROM parley.hidden_messages AS message USING next WHERE message.session = next.id RETURNING 1
    ), gone AS (
      DELETE FROM parley.sessions AS session USING next WHERE session.id = next.id RETURNING session.session_id
    )${more}
    SELECT (SELECT count(*) FROM gone) AS sessions,
      (SELECT count(*) FROM texts) + (SELECT count(*) FROM hidden) AS messages`);
const eraseLocked = erasing();
/** $2: the run that counts what it erases. $3: its note for the audit log. */
export const eraseExpired = erasing(`, counted AS (
      UPDATE parley.retention_runs SET erased = erased + (SELECT count(*) FROM gone) WHERE id = $2
    ), ${auditing('gone', '$3')}`);
// A server that fills the index locks its rows of the queue, and so the statement before waits for it and does not see its words.
const eraseWords = statement('DELETE FROM parley.search WHERE session = ANY($1::bigint[])');
const isAnyLeft = statement('SELECT 1 FROM parley.sessions WHERE id = ANY($1::bigint[]) LIMIT 1');

const ofAll = selecting(erasableIf('session.deleted_at < $2::bigint'));
const ofUser = selecting(erasableIf('session.user_id = $2::text AND session.deleted_at IS NOT NULL'));
/** The sessions that retention has deleted. For `lock`, $3 is the holder of the run and $4 the length of its lease, ms. */
export const ofExpired = selecting(
  erasableIf(`session.deleted_at < $2::bigint AND session.expired IN (
    SELECT run.id FROM parley.retention_runs AS run
    WHERE run.project = ${projectNumber}
      AND run.begun_at < $2 AND session.deleted_at <= run.last_at)`),
  holding('$3', '$4'),
);
const selectionOf = (filter: PurgeFilter) => ('user' in filter ? ofUser : ofAll);

const tables = [
  'sessions',
  'session_tags',
  'messages',
  'hidden_messages',
  'reply_parts',
  'idempotency',
  'to_index',
  'search',
];
// An index keeps the words of deleted rows until it is rebuilt.
const vacuumStatements = [
  ...tables.map((table) => statement(`VACUUM parley.${table}`)),
  statement('REINDEX INDEX CONCURRENTLY parley.search_by_words'),
];

interface Counts {
  readonly sessions: number;
  readonly messages: number;
}

interface LockedLot {
  readonly held: number;
  /** The row numbers of the sessions; null for none. */
  readonly ids: readonly number[] | null;
}

interface Lot {
  readonly lock: Statement;
  readonly values: readonly unknown[];
  readonly erase?: Statement;
  /** The values of `erase` after the row numbers. */
  readonly eraseValues?: readonly unknown[];
}

/** Erases some sessions in one transaction, because words whose session is gone would never be found again. Null if the lease is gone. */
export function eraseLot(
  connections: Pick<ConnectionPool, 'transaction'>,
  { lock, values, erase = eraseLocked, eraseValues = [] }: Lot,
): Promise<Counts | null> {
  /** What an earlier try erased, whose COMMIT got no answer. */
  let tried: { readonly ids: readonly number[]; readonly counts: Counts } | null = null;
  return connections.transaction(async (ask) => {
    if (tried !== null && (await ask(isAnyLeft, [tried.ids])).length === 0) return tried.counts;
    const [lot] = await ask<LockedLot>(lock, values);
    if (lot?.held === 0) return null;
    const ids = lot?.ids ?? [];
    if (ids.length === 0) return { sessions: 0, messages: 0 };
    const [counts] = await ask<Counts>(erase, [ids, ...eraseValues]);
    await ask(eraseWords, [ids]);
    tried = { ids, counts: counts as Counts };
    return tried.counts;
  });
}

export async function planPurge(ask: Ask, filter: PurgeFilter): Promise<PurgePlan> {
  const [row] = await ask<Counts & { text_bytes: number }>(selectionOf(filter).plan, valuesOf(filter));
  const { sessions = 0, messages = 0, text_bytes = 0 } = row ?? {};
  const unfinished = (await ask(purgeMark)).length > 0;
  return { sessions, messages, text_bytes, backups: [], unfinished };
}

/**
 * Erases the sessions of the filter. `meta` records the purge until it ends, so that {@link planPurge} can report an unfinished one.
 * `keptMs`: how long (ms) idempotency keys count.
 */
export async function purgeSessions(
  connections: ConnectionPool,
  filter: PurgeFilter,
  { expected, rewrites = false, by, marks = [], erased: onErased }: PurgeOptions,
  keptMs: number,
): Promise<Purge> {
  const { ask } = connections;
  const values = valuesOf(filter);
  const { count, answers, lock } = selectionOf(filter);
  const bytes_before = await storeBytes(ask);
  const [found] = await ask<Counts>(count, values);
  const sessions = found?.sessions ?? 0;
  if (sessions !== expected) return { kind: 'other_count', sessions };
  const { projectId: project_id } = filter;
  const note = by && noteText({ ...by, what: 'purge', project_id, count: expected, ids: marks });
  await ask(beginErasing, [note ?? null], beginErasingAgain);
  const [answered] = await ask<{ answers: number }>(answers, [...values, keptMs]);
  const erased = await eraseRows(connections, { lock, values }, onErased);
  const stored_answers = answered?.answers ?? 0;
  const report = {
    ...erased,
    stored_answers,
    ...(await overwriteErased(connections, rewrites)),
    bytes_before,
  };
  return { kind: 'purged', report };
}

/** Frees the space of erased rows, or rewrites the tables, so that no erased byte is left in them. */
export async function overwriteErased(
  connections: ConnectionPool,
  rewrites: boolean,
): Promise<ErasureReport> {
  const { ask } = connections;
  const bytes_before = await storeBytes(ask);
  const facts = rewrites
    ? [...(await rewriteTables(connections)), keptAfterRewrite]
    : await vacuum(connections);
  await ask(endErasing);
  return { backups_removed: [], bytes_before, bytes: await storeBytes(ask), facts, integrity: 'ok' };
}

async function eraseRows(
  connections: ConnectionPool,
  of: Lot,
  onErased: PurgeOptions['erased'],
): Promise<Counts> {
  let sessions = 0;
  let messages = 0;
  for (;;) {
    const lot = await eraseLot(connections, of);
    if (lot === null || lot.sessions === 0) return { sessions, messages };
    sessions += lot.sessions;
    messages += lot.messages;
    onErased?.(lot.sessions);
  }
}

const keptAfterRewrite: StoreFact = {
  name: 'kept_by_postgresql',
  value: 'its log (WAL) and the archive of it, standby servers, backups',
};

/** Frees the space of the deleted rows. Only the owner of the tables may do this; for any other user the report says so. */
async function vacuum(connections: ConnectionPool): Promise<readonly StoreFact[]> {
  const kept: StoreFact = {
    name: 'kept_by_postgresql',
    value: 'free space in its files until it is overwritten, its log (WAL), standby servers, backups',
  };
  try {
    for (const one of vacuumStatements) await connections.askOnce(one);
    await dropLeftIndexes(connections);
    await renewStatistics(connections);
    return [kept];
  } catch (error) {
    if (codeOf(error) !== '42501') throw error;
    return [kept, { name: 'not_vacuumed', value: 'this user does not own the tables' }];
  }
}

function valuesOf(filter: PurgeFilter): readonly unknown[] {
  return [filter.projectId, 'user' in filter ? filter.user : filter.deletedBefore];
}
