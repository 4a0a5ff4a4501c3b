// What a store is and whether it is whole, as SQLite itself says.
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { StoreReport } from '../../service/administration.ts';
import type { Connection } from './connection.ts';
import { schemaVersion } from './migrations.ts';

/** In the order of SQLite's numbers. */
const synchronousNames = ['off', 'normal', 'full', 'extra'];

// The check judges an index by what this connection last knew of it, although another process may have changed it since. Asking the
// index for anything brings that up to date.
const askIndexes = `
  SELECT count(*) FROM message_words WHERE message_words MATCH 'nothing'
  UNION ALL SELECT count(*) FROM message_pieces WHERE message_pieces MATCH 'nothing'`;

export function inspect(connection: Connection, filesystem: string): StoreReport {
  const { bavail, bsize } = statfsSync(dirname(connection.path));
  return {
    place: connection.path,
    bytes: statSync(connection.path).size,
    // What this user may still write on the disk that it lies on.
    free_bytes: bavail * bsize,
    schema_version: schemaVersion(connection),
    // As read back from the open store.
    facts: [
      { name: 'SQLite', value: sqliteVersion(connection) },
      { name: 'journal', value: journalMode(connection) },
      { name: 'synchronous', value: synchronous(connection) },
      { name: 'file system', value: filesystem },
    ],
    integrity: integrity(connection),
  };
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

export function integrity(connection: Connection): string {
  try {
    connection.all(askIndexes);
    return connection
      .all<{ integrity_check: string }>('PRAGMA integrity_check(20)')
      .map((row) => row.integrity_check)
      .join('; ');
  } catch (error) {
    // Damage may be such that the check itself cannot go on: that is its finding.
    return error instanceof Error ? error.message : String(error);
  }
}
