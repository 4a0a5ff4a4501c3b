// What a store is and whether it can be written, as PostgreSQL itself says.
import { setTimeout as delay } from 'node:timers/promises';
import type { StoreReport } from '../../service/administration.ts';
import { ParleyError } from '../../service/errors.ts';
import type { Ask, ConnectionPool } from './connection-pool.ts';
import { refuseMigrated, schemaVersion } from './migrations.ts';
import { statement } from './statement.ts';

const soonMs = 2000;

// The tables in the schema of `meta`, and what belongs to them.
const sizes = statement(`
  SELECT coalesce(sum(pg_total_relation_size(kind.oid)), 0) AS bytes FROM pg_class AS kind
  WHERE kind.relkind = 'r'
    AND kind.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'parley.meta'::regclass)`);
const settings = statement(`
  SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
    current_setting('synchronous_commit') AS synchronous_commit,
    (SELECT count(*) FROM pg_stat_replication WHERE sync_state <> 'async') AS synchronous_standbys,
    (SELECT count(*) FROM parley.servers WHERE until > clock_timestamp()) AS living_servers,
    (SELECT count(*) FROM parley.to_index) AS unindexed_messages`);
// The positions of a session's visible messages have no gaps, so the last position is one less than their number. An undone turn has two
// messages, and an alternative answers a message.
const brokenSessions = statement(`
  SELECT session.session_id FROM parley.sessions AS session
  LEFT JOIN (
    SELECT session, count(*) AS messages, max(position) AS last FROM parley.messages GROUP BY session
  ) AS kept ON kept.session = session.id
  WHERE session.message_count <> coalesce(kept.messages, 0) OR session.message_count <> coalesce(kept.last + 1, 0)
    OR session.id IN (
      SELECT session FROM parley.hidden_messages WHERE undone_at IS NOT NULL
      GROUP BY session, undone_at HAVING count(*) <> 2)
    OR session.id IN (
      SELECT other.session FROM parley.hidden_messages AS other WHERE other.alternative_of IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM parley.messages AS asked WHERE asked.session = other.session
          AND asked.position = other.position - 1 AND asked.message_id = other.alternative_of)
        AND NOT EXISTS (SELECT 1 FROM parley.hidden_messages AS asked WHERE asked.session = other.session
          AND asked.position = other.position - 1 AND asked.message_id = other.alternative_of))
  ORDER BY session.id LIMIT 20`);
// The statement changes nothing, and is refused like any other write: by a standby, or by default_transaction_read_only.
const emptyWrite = statement('UPDATE parley.servers SET until = until WHERE false');

/** Rejects if the database does not answer soon, because a reader of metrics does not wait until the patience of calls is over. */
export function storeBytesSoon({ askSoon }: ConnectionPool, name: string): Promise<number> {
  return answeredSoon(storeBytes(askSoon), name);
}

export async function storeBytes(ask: Ask): Promise<number> {
  const [row] = await ask<{ bytes: number }>(sizes);
  return row?.bytes ?? 0;
}

export async function inspect(ask: Ask, name: string): Promise<StoreReport> {
  const [row] = await ask<Readonly<Record<string, string | number>>>(settings);
  const broken = await ask<{ session_id: string }>(brokenSessions);
  const { version = '', ...facts } = row ?? {};
  return {
    place: name,
    bytes: await storeBytes(ask),
    free_bytes: null,
    schema_version: await schemaVersion(ask),
    facts: [
      { name: 'PostgreSQL', value: version },
      ...Object.entries(facts).map(([fact, value]) => ({ name: fact, value })),
    ],
    integrity:
      broken.length === 0
        ? 'ok'
        : `sessions that lack messages: ${broken.map(({ session_id }) => session_id).join(', ')}`,
  };
}

/**
 * Rejects if the database takes no writes, if it does not answer soon, or if the store has been migrated since it was opened with this
 * schema. A server that was demoted may answer reads for days. A caller such as a load balancer does not wait until the patience of calls
 * is over.
 */
export async function checkWritable(
  { askSoon }: ConnectionPool,
  name: string,
  schema: number,
): Promise<void> {
  await answeredSoon(
    askSoon(emptyWrite).then(() => refuseMigrated(askSoon, name, schema)),
    name,
  );
}

async function answeredSoon<T>(asked: Promise<T>, name: string): Promise<T> {
  const answered = asked.then((answer) => ({ answer }));
  // The query may still run after its caller has stopped waiting.
  answered.catch(() => {});
  const result = await Promise.race([answered, delay(soonMs, null, { ref: false })]);
  if (result !== null) return result.answer;
  throw new ParleyError('UNAVAILABLE', `The database ${name} gives no answer.`, {
    retryAfter: 1,
    cause: new Error('no answer in time'),
  });
}
