// SQLite by better-sqlite3, a compiled add-on. Its databases and statements are used as they are.
import type { Options } from 'better-sqlite3';
import { ParleyError } from '../../service/errors.ts';
import type { SqliteDatabase, SqliteDriver } from './driver.ts';

/** Loads the package here, because a Node that uses node:sqlite must not load it. */
export async function betterSqlite3(nodeApiVersion: number): Promise<SqliteDriver> {
  const Database = await load(nodeApiVersion);
  const open = (path: string, options: Options): SqliteDatabase => {
    try {
      return new Database(path, options);
    } catch (error) {
      throw error instanceof Database.SqliteError ? error : notLoaded(error, notBuilt);
    }
  };
  return {
    name: 'better-sqlite3',
    newerSqlite: 'Run `npm install better-sqlite3@latest` where Parley is installed.',
    open: (path) => open(path, { fileMustExist: true, timeout: 0 }),
    openInMemory: () => open(':memory:', {}),
  };
}

async function load(nodeApiVersion: number) {
  const manifest = await import('better-sqlite3/package.json', { with: { type: 'json' } }).catch((error) => {
    throw notLoaded(error, notInstalled);
  });
  refuseUnusable(manifest.default.version, nodeApiVersion);
  const { default: Database } = await import('better-sqlite3').catch((error) => {
    throw notLoaded(error, notBuilt);
  });
  return Database;
}

/** Version 13 on a Node without Node-API 10 ends the process when it opens a file, without an error that could be caught. */
function refuseUnusable(version: string, nodeApiVersion: number): void {
  if (nodeApiVersion >= 10 || Number.parseInt(version, 10) < 13) return;
  throw new ParleyError(
    'CONFIG',
    `better-sqlite3 ${version} needs Node-API 10; this Node has ${nodeApiVersion}.`,
    {
      hint: 'Use Node 22.14 or newer, or run `npm install better-sqlite3@12.9.0` where Parley is installed.',
    },
  );
}

const notBuilt =
  'Run `npm rebuild better-sqlite3` where Parley is installed, with the Node that runs it; ' +
  'npm 12 needs `npm install-scripts approve better-sqlite3` first.';

const notInstalled =
  'Run `npm install better-sqlite3` where Parley is installed. Node 24.15 and newer, and a single executable, do without it: ' +
  'leave PARLEY_SQLITE_DRIVER unset.';

function notLoaded(cause: unknown, hint: string): ParleyError {
  const text = cause instanceof Error ? cause.message : String(cause);
  return new ParleyError('CONFIG', `SQLite cannot be loaded: ${text.split('\n', 1)[0]}.`, { hint, cause });
}
