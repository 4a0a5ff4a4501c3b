// Describes a store and checks whether it is intact, by SQLite's own checks.
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { StoreReport } from '../../service/administration.ts';
import type { Connection } from './connection.ts';
import { schemaVersion } from './schema-version.ts';
import { logBytes } from './store-file.ts';

/** The names of SQLite's numbers 0 to 3. */
const synchronousNames = ['off', 'normal', 'full', 'extra'];

// SQLite's integrity check compares an index with this connection's cached state of it, but another process may have changed the index
// since. A query on the index refreshes that state.
const askIndexes = `
  SELECT count(*) FROM message_words WHERE message_words MATCH 'nothing'
  UNION ALL SELECT count(*) FROM message_pieces WHERE message_pieces MATCH 'nothing'`;

// The positions of the visible messages have no gaps. An undone turn has two messages, and an alternative answers a message.
const brokenSessions = `
  SELECT session_id FROM sessions WHERE project <> 0 AND (
    message_count <> (SELECT count(*) FROM messages WHERE session = sessions.id)
    OR message_count <> coalesce((SELECT max(position) + 1 FROM messages WHERE session = sessions.id), 0)
    OR undone_turns > (SELECT count(DISTINCT undone_at) FROM hidden_messages WHERE session = sessions.id)
    OR EXISTS (
      SELECT 1 FROM hidden_messages WHERE session = sessions.id AND undone_at IS NOT NULL
      GROUP BY undone_at HAVING count(*) <> 2)
    OR EXISTS (
      SELECT 1 FROM hidden_messages AS other WHERE other.session = sessions.id AND alternative_of IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM messages WHERE session = other.session AND position = other.position - 1
          AND message_id = other.alternative_of)
        AND NOT EXISTS (SELECT 1 FROM hidden_messages WHERE session = other.session AND position = other.position - 1
          AND message_id = other.alternative_of)))
  ORDER BY id LIMIT 20`;

export function inspect(connection: Connection, filesystem: string): StoreReport {
  const { bavail, bsize } = statfsSync(dirname(connection.path));
  return {
    place: connection.path,
    bytes: statSync(connection.path).size,
    // How many bytes this user may still write on the disk of the store.
    free_bytes: bavail * bsize,
    schema_version: schemaVersion(connection),
    // These values are read back from the open store.
    facts: [
      { name: 'SQLite', value: sqliteVersion(connection) },
      { name: 'journal', value: journalMode(connection) },
      { name: 'synchronous', value: synchronous(connection) },
      { name: 'file system', value: filesystem },
    ],
    integrity: lineIntegrity(connection),
  };
}

/** The bytes of the store and its log. */
export function bytesOf(path: string): number {
  return statSync(path).size + logBytes(path);
}

export function sqliteVersion(connection: Connection): string {
  return connection.get<{ version: string }>('SELECT sqlite_version() AS version')?.version ?? '';
}

export function journalMode(connection: Connection): string {
  return String(connection.pragma('journal_mode'));
}

export function synchronous(connection: Connection): string {
  const number = Number(connection.pragma('synchronous'));
  return synchronousNames[number] ?? String(number);
}

function lineIntegrity(connection: Connection): string {
  const state = integrity(connection);
  if (state !== 'ok') return state;
  const broken = connection.all<{ session_id: string }>(brokenSessions);
  if (broken.length === 0) return 'ok';
  return `sessions that lack messages: ${broken.map(({ session_id }) => session_id).join(', ')}`;
}

export function integrity(connection: Connection): string {
  try {
    connection.all(askIndexes);
    return connection
      .all<{ integrity_check: string }>('PRAGMA integrity_check(20)')
      .map((row) => row.integrity_check)
      .join('; ');
  } catch (error) {
    // The check itself may fail on a damaged store. Its error is then the result.
    return error instanceof Error ? error.message : String(error);
  }
}
