// What a file says of itself as a store, and the version of the newest schema. The migrations (schema.ts) are loaded only for a store that
// is not at this version.
import { newerStore } from '../newer-store.ts';
import type { Connection } from './connection.ts';

/** "PRLY", in the header of the file. A file without this mark is not a store, whatever its name. */
export const applicationId = 0x50524c59;

/** The number of the last migration in schema.ts. */
export const newestSchema = 15;

export function schemaVersion(connection: Connection): number {
  return Number(connection.pragma('user_version'));
}

/** The schema of a store that this program can use, or bring to `newest`. Throws `STORE_NEWER` for a later one. */
export function knownVersion(connection: Connection, newest: number): number {
  const version = schemaVersion(connection);
  if (version > newest)
    throw newerStore(connection.path, { version, newest, parleyVersion: parleyVersionOf(connection) });
  return version;
}

/** Throws `STORE_NEWER` if another program has migrated the store since this one opened it with the schema `opened`. */
export function refuseMigrated(connection: Connection, opened: number): void {
  knownVersion(connection, opened);
}

function parleyVersionOf(connection: Connection): string | null {
  try {
    const row = connection.get<{ value: string }>(`SELECT value FROM meta WHERE name = 'parley_version'`);
    return row?.value ?? null;
  } catch {
    return null; // A later schema may store the version elsewhere.
  }
}
