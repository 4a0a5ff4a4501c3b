// Describes a store, checks whether it is intact, and whether it accepts writes.
import type { StoreReport } from '../../service/administration.ts';
import type { Ask } from './connection-pool.ts';
import { schemaVersion } from './migrations.ts';
import { statement } from './statement.ts';

const sizes = statement(`
  SELECT coalesce(sum(pg_total_relation_size(to_regclass(name))), 0) AS bytes
  FROM unnest(ARRAY['parley.meta', 'parley.projects', 'parley.api_keys', 'parley.sessions', 'parley.messages',
    'parley.servers', 'parley.modes', 'parley.reply_parts', 'parley.idempotency', 'parley.to_index', 'parley.search']) AS name`);
const settings = statement(`
  SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
    current_setting('synchronous_commit') AS synchronous_commit,
    (SELECT count(*) FROM pg_stat_replication WHERE sync_state <> 'async') AS synchronous_standbys,
    (SELECT count(*) FROM parley.servers WHERE until > clock_timestamp()) AS living_servers,
    (SELECT count(*) FROM parley.to_index) AS unindexed_messages`);
// The positions of a session's messages have no gaps, so the last position is one less than the number of messages.
const brokenSessions = statement(`
  SELECT session.session_id FROM parley.sessions AS session
  LEFT JOIN (
    SELECT session, count(*) AS messages, max(position) AS last FROM parley.messages GROUP BY session
  ) AS kept ON kept.session = session.id
  WHERE session.message_count <> coalesce(kept.messages, 0) OR session.message_count <> coalesce(kept.last + 1, 0)
  ORDER BY session.id LIMIT 20`);
const writable = statement('SELECT pg_is_in_recovery() AS is_standby');

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

/** False for a standby: a demoted server still answers reads, so an answer alone does not prove that it accepts writes. */
export async function isWritable(ask: Ask): Promise<boolean> {
  const [row] = await ask<{ is_standby: boolean }>(writable);
  return row?.is_standby === false;
}
