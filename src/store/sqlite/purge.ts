// Erases sessions for good. After the rows are deleted, their bytes still stand in free pages, the log, the search index, stored answers
// and copies of the store. So the file is rebuilt from the remaining rows, its log is emptied, and the result is checked.
import { statSync } from 'node:fs';
import type { PurgePlan, PurgeReport } from '../../service/administration.ts';
import { ParleyError } from '../../service/errors.ts';
import type { PurgeFilter } from '../session-filters.ts';
import type { Purge } from '../session-store.ts';
import type { Clocks } from './age-clock.ts';
import { backupsOf, removeBackups } from './backup.ts';
import type { Bindings, Connection } from './connection.ts';
import { agedSince } from './idempotency.ts';
import { integrity } from './inspection.ts';
import { leaseIsOver } from './lease-clock.ts';
import { type LockWait, whenUnlocked } from './lock-wait.ts';

export interface PurgeTools {
  readonly connection: Connection;
  /** Runs the work in a transaction of the store's only writer. */
  readonly write: <T>(work: () => T) => Promise<T>;
  readonly wait: LockWait;
  readonly clocks: () => Clocks;
}

interface Erased {
  readonly sessions: number;
  readonly messages: number;
  readonly stored_answers: number;
}

/** How many sessions one transaction erases. A transaction must be short because other processes wait for it. */
const sessionsAtOnce = 200;
const pauseMs = 50;

const erasable = `
  deleted_at < @deletedBefore AND (turn_owner IS NULL OR ${leaseIsOver})
  AND (@projectId IS NULL OR project = (SELECT id FROM projects WHERE project_id = @projectId))`;

export const purgeStatements = {
  plan: `
    SELECT count(DISTINCT sessions.id) AS sessions, count(message.id) AS messages,
      coalesce(sum(octet_length(message.content)), 0) AS text_bytes
    FROM sessions LEFT JOIN messages AS message ON message.session = sessions.id WHERE ${erasable}`,
  count: `SELECT count(*) AS sessions FROM sessions WHERE ${erasable}`,
  // Erases the keys of turns, the answers that name an erased session, and the answers that are too old to be repeated.
  answers: `
    DELETE FROM idempotency WHERE created_at < @keptSince
      OR message IN (
        SELECT message.id FROM sessions CROSS JOIN messages AS message ON message.session = sessions.id
        WHERE ${erasable})
      OR EXISTS (
        SELECT 1 FROM json_tree(answer) AS part CROSS JOIN sessions
          ON sessions.project = idempotency.project AND sessions.session_id = part.value
        WHERE part.key = 'session_id' AND ${erasable})`,
  next: `SELECT id FROM sessions WHERE ${erasable} LIMIT ${sessionsAtOnce}`,
  // The messages go before their session, because triggers on messages may read the session.
  messages: 'DELETE FROM messages WHERE session = @session',
  session: 'DELETE FROM sessions WHERE id = @session',
  begin: `INSERT INTO meta (name, value) VALUES ('purge', 'begun') ON CONFLICT (name) DO NOTHING`,
  begun: `SELECT 1 FROM meta WHERE name = 'purge'`,
  end: `DELETE FROM meta WHERE name = 'purge'`,
  // `fts5vocab` is not in the list: such a table has no content of its own.
  indexes: `
    SELECT name FROM sqlite_schema
    WHERE type = 'table' AND (lower(sql) GLOB '*using fts5 (*' OR lower(sql) GLOB '*using fts5(*')`,
} as const;

export function planPurge(connection: Connection, filter: PurgeFilter, clock: number): PurgePlan {
  const row = connection.get<Omit<PurgePlan, 'backups' | 'unfinished'>>(
    purgeStatements.plan,
    bindingsOf(filter, clock),
  );
  return {
    sessions: row?.sessions ?? 0,
    messages: row?.messages ?? 0,
    text_bytes: row?.text_bytes ?? 0,
    backups: backupsOf(connection.path),
    unfinished: connection.get(purgeStatements.begun) !== undefined,
  };
}

export async function purgeSessions(
  tools: PurgeTools,
  filter: PurgeFilter,
  options: { readonly expected: number; readonly keptSince: number },
): Promise<Purge> {
  const { connection, write } = tools;
  await emptyLog(tools, 'Nothing was erased yet.');
  const bytes_before = statSync(connection.path).size;
  connection.pragma('secure_delete = ON');
  try {
    const erased = await eraseRows(tools, filter, options);
    if (typeof erased === 'number') return { kind: 'other_count', sessions: erased };
    await settleSearchIndexes(tools);
    await emptyLog(tools, unfinished);
    await whenUnlocked(() => connection.execute('VACUUM'), tools.wait);
    await emptyLog(tools, unfinished);
    const backups_removed = removeBackups(connection.path);
    await write(() => connection.run(purgeStatements.end));
    await emptyLog(tools, unfinished);
    const report = { ...erased, backups_removed, bytes_before, ...checked(connection) };
    return { kind: 'purged', report };
  } finally {
    connection.pragma('secure_delete = OFF');
  }
}

const unfinished = 'Their rows are gone, but not yet all of their bytes.';

/** Erases the rows. Returns the number of sessions if it is not the expected one. */
async function eraseRows(
  { connection, write, clocks }: PurgeTools,
  filter: PurgeFilter,
  { expected, keptSince }: { readonly expected: number; readonly keptSince: number },
): Promise<Erased | number> {
  const bindings = bindingsOf(filter, clocks().clock);
  const { found, stored_answers } = await write(() => {
    const found = connection.get<{ sessions: number }>(purgeStatements.count, bindings)?.sessions ?? 0;
    if (found !== expected) return { found, stored_answers: 0 };
    connection.run(purgeStatements.begin);
    const { changes } = connection.run(purgeStatements.answers, {
      ...bindings,
      keptSince: agedSince({ connection, ...clocks() }, keptSince),
    });
    return { found, stored_answers: changes };
  });
  if (found !== expected) return found;
  let sessions = 0;
  let messages = 0;
  for (;;) {
    const erased = await write(() => {
      const rows = connection.all<{ id: number }>(purgeStatements.next, bindings);
      let count = 0;
      for (const { id: session } of rows) {
        count += connection.run(purgeStatements.messages, { session }).changes;
        connection.run(purgeStatements.session, { session });
      }
      return { sessions: rows.length, messages: count };
    });
    if (erased.sessions === 0) return { sessions, messages, stored_answers };
    sessions += erased.sessions;
    messages += erased.messages;
  }
}

/** Merges the parts of the search indexes, because an index keeps deleted words until then. */
async function settleSearchIndexes({ connection, write }: PurgeTools): Promise<void> {
  for (const { name } of connection.all<{ name: string }>(purgeStatements.indexes)) {
    const table = `"${name.replaceAll('"', '""')}"`;
    await write(() => connection.execute(`INSERT INTO ${table} (${table}) VALUES ('optimize')`));
  }
}

/** Empties the log. Throws `STORE_BUSY` if other connections read or write for longer than a lock is waited for. */
async function emptyLog({ connection, wait }: PurgeTools, state: string): Promise<void> {
  for (let waited = 0; ; waited += pauseMs) {
    // The first column of the answer is 1 if the checkpoint was blocked.
    if (connection.pragma('wal_checkpoint(TRUNCATE)') === 0) return;
    if (waited >= wait.waitMs) break;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new ParleyError(
    'STORE_BUSY',
    `Not yet: another process reads the store ${connection.path}. ${state}`,
    {
      hint: 'Run the same command again when the other is done.',
    },
  );
}

function checked(
  connection: Connection,
): Omit<PurgeReport, keyof Erased | 'backups_removed' | 'bytes_before'> {
  return {
    bytes: statSync(connection.path).size,
    // After a purge all pages are in use and the log is empty, unless another process writes.
    facts: [
      { name: 'pages', value: Number(connection.pragma('page_count')) },
      { name: 'free_pages', value: Number(connection.pragma('freelist_count')) },
      { name: 'log_bytes', value: statSync(`${connection.path}-wal`, { throwIfNoEntry: false })?.size ?? 0 },
    ],
    integrity: integrity(connection),
  };
}

function bindingsOf({ projectId, deletedBefore }: PurgeFilter, clock: number): Bindings {
  return { projectId, deletedBefore, clock };
}
