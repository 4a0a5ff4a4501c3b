// Puts a finished store in the place of another one. At every moment the directory holds the old store or the new one, whole. The old one
// is copied beside it first, unless it holds no session. A store that another process has open is not replaced.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { moveIntoPlace } from '../../system/atomic-file.ts';
import type { ProjectKeyRow } from '../store-rows.ts';
import { copyTo } from './backup.ts';
import { Connection } from './connection.ts';
import type { SqliteDriver } from './driver.ts';
import { type LockWait, whenUnlocked } from './lock-wait.ts';
import { applicationId, newestSchema, schemaVersion } from './schema-version.ts';
import { storeError } from './sqlite-errors.ts';
import { storeFilename } from './store-file.ts';
import { rowStatements } from './store-row-statements.ts';

/** The name of a store that is being made. A purge removes it, as it removes all copies of a store. */
export const unfinishedName = `${storeFilename}.backup-restoring`;

/** The first schema whose keys have limits. */
const firstWithLimits = 13;

export interface ReplacedPlace {
  readonly driver: SqliteDriver;
  readonly directory: string;
  readonly wait: LockWait;
}

export interface EarlierStore {
  readonly holdsSessions: boolean;
  readonly keys: readonly (ProjectKeyRow & { readonly project_name: string })[];
}

/** What the store in a directory holds. Rejects with `STORE_NEWER` for a store that this version cannot read. */
export async function earlierStore({ driver, directory, wait }: ReplacedPlace): Promise<EarlierStore> {
  return withConnection(driver, join(directory, storeFilename), (connection) =>
    whenUnlocked(() => readStore(connection), wait),
  );
}

/** Removes what a restoration that was killed has left. */
export function removeUnfinished(directory: string): void {
  for (const ending of ['', '-wal', '-shm', '-journal'])
    rmSync(join(directory, `${unfinishedName}${ending}`), { force: true });
}

/**
 * Moves the finished store into the place of the one in the directory. The path of the copy of the old one; null if that held no session.
 * `mayReplace` is called when no other process can use the old store. It throws to keep that store.
 */
export async function replaceStore(
  { driver, directory, wait }: ReplacedPlace,
  mayReplace: (old: EarlierStore) => void,
): Promise<string | null> {
  const path = join(directory, storeFilename);
  const finished = join(directory, unfinishedName);
  // SQLite leaves the log if it could not write it into the file, for example on a full disk.
  if (existsSync(`${finished}-wal`)) throw notWritten(finished);
  return withConnection(driver, path, async (connection) => {
    connection.takeExclusive();
    const old = await whenUnlocked(() => readStore(connection), wait);
    mayReplace(old);
    // Without a log, nothing beside the file belongs to the old store when the new one gets its name.
    await whenUnlocked(() => connection.pragma('journal_mode = DELETE'), wait);
    const copy = old.holdsSessions
      ? copyTo(path, schemaVersion(connection), (target) => connection.run('VACUUM INTO @target', { target }))
      : null;
    connection.run('BEGIN EXCLUSIVE');
    moveIntoPlace(finished, path, { durable: true });
    connection.rollback();
    return copy;
  });
}

function notWritten(path: string): ParleyError {
  return new ParleyError('STORE_UNSAFE', `The new store ${path} could not be written to its end.`, {
    hint: 'Nothing was changed. Check the disk and its free space, and try again.',
  });
}

async function withConnection<T>(
  driver: SqliteDriver,
  path: string,
  work: (connection: Connection) => Promise<T> | T,
): Promise<T> {
  const connection = Connection.open(driver, path);
  try {
    return await work(connection);
  } catch (error) {
    throw storeError(error, path);
  } finally {
    connection.close();
  }
}

function readStore(connection: Connection): EarlierStore {
  const version = schemaVersion(connection);
  if (version > newestSchema || (version > 0 && connection.pragma('application_id') !== applicationId)) {
    throw new ParleyError(
      'STORE_NEWER',
      `The store ${connection.path} is of a newer version (schema ${version}; this Parley knows ${newestSchema}).`,
      { hint: 'It was not changed. Name another directory, or use the newer version.' },
    );
  }
  if (version === 0) return { holdsSessions: false, keys: [] };
  const holdsSessions = connection.get('SELECT 1 FROM sessions LIMIT 1') !== undefined;
  const names = new Map(
    connection
      .all<{ project_id: string; name: string }>(rowStatements.projects)
      .map(({ project_id, name }) => [project_id, name]),
  );
  const keys = connection
    .all<ProjectKeyRow>(version < firstWithLimits ? rowStatements.keysWithoutLimits : rowStatements.keys)
    .map((key) => ({ ...key, project_name: names.get(key.project_id) ?? '' }));
  return { holdsSessions, keys };
}
