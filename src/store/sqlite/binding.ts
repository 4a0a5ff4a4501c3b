// Opens databases with better-sqlite3, and checks its compiled half: whether this Node can load it, and whether its SQLite is safe.
import Database from 'better-sqlite3';
import manifest from 'better-sqlite3/package.json' with { type: 'json' };
import { ParleyError } from '../../service/errors.ts';

/** Opens an existing database. SQLite's own lock wait is off because it would block the event loop. */
export function openDatabase(path: string): Database.Database {
  return opened(path, { fileMustExist: true, timeout: 0 });
}

/** Opens a new database in memory. Its content is lost when it is closed. */
export function openInMemory(): Database.Database {
  return opened(':memory:', {});
}

function opened(path: string, options: Database.Options): Database.Database {
  try {
    return new Database(path, options);
  } catch (error) {
    if (error instanceof Database.SqliteError) throw error;
    throw new ParleyError('CONFIG', `SQLite cannot be loaded: ${firstLine(error)}`, {
      hint:
        'Run `npm rebuild better-sqlite3` where Parley is installed, with the Node that runs it; ' +
        'npm 12 needs `npm install-scripts approve better-sqlite3` first.',
      cause: error,
    });
  }
}

/**
 * Refuses a combination that crashes: version 13 on a Node without Node-API 10 ends the process when it opens a file, without an error that
 * could be caught.
 */
export function refuseUnusableBinding(nodeApiVersion: number): void {
  if (nodeApiVersion >= 10 || Number.parseInt(manifest.version, 10) < 13) return;
  throw new ParleyError(
    'CONFIG',
    `better-sqlite3 ${manifest.version} needs Node-API 10; this Node has ${nodeApiVersion}.`,
    {
      hint: 'Use Node 22.14 or newer, or run `npm install better-sqlite3@12.9.0` where Parley is installed.',
    },
  );
}

/** Versions before 3.51.3 can damage a write-ahead log that two connections reset (https://sqlite.org/wal.html, “The WAL-Reset Bug”). */
export function refuseUnsafeSqlite(version: string): void {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (major * 1_000_000 + minor * 1000 + patch >= 3_051_003) return;
  throw new ParleyError(
    'STORE_UNSAFE',
    `SQLite ${version} can damage a store; Parley needs 3.51.3 or newer.`,
    {
      hint: 'Run `npm install better-sqlite3@latest` where Parley is installed.',
    },
  );
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? text;
}
