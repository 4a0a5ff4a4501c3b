// Rewrites the tables, so that nothing of an erased row is left in the data files: not in free space, not in an index, and not in the
// planner's statistics, which hold samples of the texts. No other call can use a table while it is rewritten.
import { setTimeout as delay } from 'node:timers/promises';
import { ParleyError } from '../../service/errors.ts';
import type { StoreFact } from '../../service/store-fact.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { quotedName, statement } from './statement.ts';
import { renewStatistics, tablesOf } from './statistics.ts';

// The rights are checked first, because PostgreSQL only warns when it skips a table that this user does not own.
const rights = statement(`
  SELECT (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'parley.meta'::regclass) AS of_tables,
    (SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = current_database()) AS of_database`);
const nextTransaction = statement('SELECT pg_current_xact_id()::text AS id');
// A rewrite keeps a deleted row that an older transaction may still see.
const readers = statement(`
  SELECT count(*) AS readers FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
    AND backend_xmin IS NOT NULL AND age(backend_xmin) > age(($1::text::bigint % 4294967296)::text::xid)`);
// A REINDEX that was cut leaves its new index, with all words, and every later write of words fills that too.
const leftIndexes = statement(`
  SELECT relname AS name FROM pg_class WHERE relkind = 'i' AND relname LIKE 'search\\_by\\_words\\_cc%'
    AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'parley.meta'::regclass)`);
const rewriteStatistics = statement('VACUUM FULL pg_catalog.pg_statistic');

const pauseMs = 50;

/** Rejects with `STORE_BUSY` if a transaction that began before the rows were erased still runs after `patienceMs`. */
export async function rewriteTables(connections: ConnectionPool): Promise<readonly StoreFact[]> {
  const { ask } = connections;
  const [allowed] = await ask<{ of_tables: boolean; of_database: boolean }>(rights);
  if (!allowed?.of_tables) throw notOwner();
  await waitForReaders(connections);
  for (const table of await tablesOf(connections))
    await connections.askOnce(statement(`VACUUM FULL parley.${quotedName(table)}`));
  await dropLeftIndexes(connections);
  await renewStatistics(connections);
  if (!allowed.of_database) {
    const value = 'samples of texts, in pg_statistic: only the owner of the database may rewrite that';
    return [{ name: 'not_rewritten', value }];
  }
  await connections.askOnce(rewriteStatistics);
  return [{ name: 'rewritten', value: 'all tables and indexes, and the statistics of the planner' }];
}

/** Waits for a REINDEX that still runs, and then leaves its index. */
export async function dropLeftIndexes({ ask, askOnce }: ConnectionPool): Promise<void> {
  for (const { name } of await ask<{ name: string }>(leftIndexes))
    await askOnce(statement(`DROP INDEX CONCURRENTLY IF EXISTS parley.${quotedName(name)}`));
}

async function waitForReaders({ ask, patienceMs }: ConnectionPool): Promise<void> {
  const [erased] = await ask<{ id: string }>(nextTransaction);
  for (let waited = 0; ; waited += pauseMs) {
    const [row] = await ask<{ readers: number }>(readers, [erased?.id]);
    if (row?.readers === 0) return;
    if (waited >= patienceMs) break;
    await delay(pauseMs);
  }
  throw new ParleyError(
    'STORE_BUSY',
    'Not yet: a transaction runs in the database that began before the rows were erased. Their rows are gone, but not yet all of their bytes.',
    { hint: 'Run the same command again when it is over. pg_stat_activity shows it.' },
  );
}

function notOwner(): ParleyError {
  return new ParleyError('STORE_UNSAFE', 'Only the owner of the tables may write them anew.', {
    hint: 'The rows are gone, but not yet all of their bytes. Run the same command as that user.',
  });
}
