// Erases sessions for good. After the rows are deleted, their bytes are still in free pages, the log, the search index, stored answers
// and copies of the store. So the file is rebuilt from the remaining rows, its log is emptied, and the result is checked.
import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { ErasureReport, PurgePlan } from '../../service/erasure.ts';
import { ParleyError } from '../../service/errors.ts';
import type { PurgeFilter } from '../session-filters.ts';
import type { Purge } from '../session-store.ts';
import { backupsOf, removeBackups } from './backup.ts';
import type { Connection } from './connection.ts';
import { integrity } from './inspection.ts';
import { whenUnlocked } from './lock-wait.ts';
import { eraseRows, inSlices, type PurgeTools, selectionOf } from './purge-rows.ts';
import { removeLeft } from './staged-session.ts';
import type { Steps } from './steps.ts';
import { logBytes } from './store-file.ts';

/** The pause between two attempts to empty the log, in ms. */
const pauseMs = 50;
/** How many pages of an index one transaction merges: a few milliseconds' work. */
const pagesOfMerge = 64;
const maxMerges = 10_000;

const statements = {
  begun: `SELECT 1 FROM meta WHERE name = 'purge'`,
  // An import that was cut leaves bytes that only a later purge can overwrite.
  end: `DELETE FROM meta WHERE name = 'purge' AND NOT EXISTS (SELECT 1 FROM imports)`,
  // `fts5vocab` is not in the list: such a table has no content of its own.
  indexes: `
    SELECT name FROM sqlite_schema
    WHERE type = 'table' AND (lower(sql) GLOB '*using fts5 (*' OR lower(sql) GLOB '*using fts5(*')`,
  changes: 'SELECT total_changes() AS changes',
} as const;

export function planPurge(connection: Connection, filter: PurgeFilter, clock: number): PurgePlan {
  const row = connection.get<Omit<PurgePlan, 'backups' | 'unfinished'>>(selectionOf(filter).plan, {
    ...filter,
    clock,
  });
  return {
    sessions: row?.sessions ?? 0,
    messages: row?.messages ?? 0,
    text_bytes: row?.text_bytes ?? 0,
    backups: backupsOf(connection.path),
    unfinished: connection.get(statements.begun) !== undefined,
  };
}

export async function purgeSessions(
  tools: PurgeTools,
  filter: PurgeFilter,
  options: { readonly expected: number; readonly keptSince: number },
): Promise<Purge> {
  const { connection } = tools;
  await emptyLog(tools, 'Nothing was erased yet.');
  const bytes_before = statSync(connection.path).size;
  connection.pragma('secure_delete = ON');
  try {
    const erased = await eraseRows(tools, filter, options);
    if (typeof erased === 'number') return { kind: 'other_count', sessions: erased };
    return { kind: 'purged', report: { ...erased, ...(await overwriteErased(tools)), bytes_before } };
  } finally {
    connection.pragma('secure_delete = OFF');
  }
}

type OverwriteTools = Pick<PurgeTools, 'connection' | 'writer' | 'wait'>;

/** Leaves no byte of erased rows and replaced texts in the files of the store, and removes the copies beside it. */
export async function overwriteErased(tools: OverwriteTools): Promise<ErasureReport> {
  const { connection, writer } = tools;
  const bytes_before = statSync(connection.path).size;
  await inSlices(tools, removeLeft(connection));
  await inSlices(tools, mergeSteps(tools));
  await emptyLog(tools, unfinished);
  await whenUnlocked(() => connection.execute('VACUUM'), tools.wait);
  await emptyLog(tools, unfinished);
  const backups_removed = removeBackups(connection.path);
  await writer.write(() => connection.run(statements.end));
  await emptyLog(tools, unfinished);
  return { backups_removed, bytes_before, ...checked(connection) };
}

const unfinished = 'Their rows are gone, but not yet all of their bytes.';

/**
 * Merges all parts of each index into one, `pagesOfMerge` pages per step. A part keeps deleted words until it is merged. If other writers
 * add parts so fast that `maxMerges` steps are not enough, one last step merges the rest.
 */
function* mergeSteps({ connection }: OverwriteTools): Steps<void> {
  for (const { name } of connection.all<{ name: string }>(statements.indexes)) {
    const table = `"${name.replaceAll('"', '""')}"`;
    const merge = `INSERT INTO ${table} (${table}, rank) VALUES ('merge', -${pagesOfMerge})`;
    let more = true;
    for (let steps = 0; more && steps < maxMerges; steps += 1) {
      more = mergesMore(connection, merge);
      yield;
    }
    if (more) connection.execute(`INSERT INTO ${table} (${table}) VALUES ('optimize')`);
  }
}

/** The statement itself counts as one change (https://sqlite.org/fts5.html#the_merge_command). */
function mergesMore(connection: Connection, merge: string): boolean {
  const changes = () => connection.get<{ changes: number }>(statements.changes)?.changes ?? 0;
  const before = changes();
  connection.execute(merge);
  return changes() - before >= 2;
}

/** Empties the log. Throws `STORE_BUSY` if other connections prevent that for longer than `wait.waitMs`. `state` says what is erased. */
async function emptyLog({ connection, wait }: OverwriteTools, state: string): Promise<void> {
  // PASSIVE writes most of the log and blocks no other process. TRUNCATE blocks the other writers, but has little left to write.
  connection.pragma('wal_checkpoint(PASSIVE)');
  for (let waited = 0; ; waited += pauseMs) {
    // The first column of the answer is 1 if the checkpoint was blocked.
    if (connection.pragma('wal_checkpoint(TRUNCATE)') === 0) return;
    if (waited >= wait.waitMs) break;
    await delay(pauseMs);
  }
  throw new ParleyError(
    'STORE_BUSY',
    `Not yet: another process reads the store ${connection.path}. ${state}`,
    {
      hint: 'Run the same command again when the other is done.',
    },
  );
}

function checked(connection: Connection): Omit<ErasureReport, 'backups_removed' | 'bytes_before'> {
  return {
    bytes: statSync(connection.path).size,
    // After a purge all pages are in use and the log is empty, unless another process writes.
    facts: [
      { name: 'pages', value: Number(connection.pragma('page_count')) },
      { name: 'free_pages', value: Number(connection.pragma('freelist_count')) },
      { name: 'log_bytes', value: logBytes(connection.path) },
    ],
    integrity: integrity(connection),
  };
}
