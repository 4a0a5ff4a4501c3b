// Opens the store: a private file on a local disk, a SQLite that is safe to use, durable commits, the newest schema. Whatever
// is not so is refused before anything in the file changes.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { StoreMigration } from '../../service/administration.ts';
import { ParleyError } from '../../service/errors.ts';
import { olderStore } from '../older-store.ts';
import type { SessionStore } from '../session-store.ts';
import type { StoreRows } from '../store-rows.ts';
import type { StoreRules } from '../store-rules.ts';
import { openDatabase, refuseUnsafeSqlite, refuseUnusableBinding } from './binding.ts';
import { Connection } from './connection.ts';
import { filesystemType } from './filesystem.ts';
import { journalMode, sqliteVersion, synchronous } from './inspection.ts';
import type { LockWait } from './lock-wait.ts';
import { usualLockWaitMs, whenUnlocked } from './lock-wait.ts';
import { type MigrationOptions, migrate } from './migrations.ts';
import type { Migration } from './schema.ts';
import { applicationId, schema } from './schema.ts';
import { storeError } from './sqlite-errors.ts';
import { SqliteStore } from './sqlite-store.ts';
import { prepareStoreFile } from './store-file.ts';
import type { ProcessesOf } from './store-processes.ts';
import { SqliteRows } from './store-rows.ts';

export interface SqliteStoreOptions {
  /** Made, for its owner alone, if it is not there. */
  readonly directory: string;
  /** The version of Node-API that this Node offers (`process.versions.napi`). */
  readonly nodeApiVersion: number;
  readonly now: () => number;
  /** The clock of leases, ms: lease-clock.ts. */
  readonly sinceBoot: () => number;
  readonly rules: StoreRules;
  /** 0 to 1, for pauses of unequal length. */
  readonly random: () => number;
  /** `parley.db`. */
  readonly filename?: string;
  /** The kernel's answer. */
  readonly filesystemType?: (directory: string) => string;
  /** How long a call waits for a lock that another process holds; `usualLockWaitMs`. */
  readonly lockWaitMs?: number;
  /** For a store of many callers: none of them waits for another's long read. */
  readonly processes?: ProcessesOf;
  /** Parley's own schema. */
  readonly migrations?: readonly Migration[];
  /** True: a store with an older schema is refused, and none is made. False without it. */
  readonly refusesOlder?: boolean;
}

export interface OpenedStore {
  readonly store: SessionStore;
  /** True while the store holds no project: somebody has to make the first. */
  readonly created: boolean;
  readonly migration: StoreMigration;
  /**
   * Until the event loop turns, reads may share one look at the store, taken no earlier than this call. For a server, which finds
   * many requests waiting at once: what was committed before they were sent is seen by all of them.
   */
  readonly shareReads: () => void;
}

const usualFilename = 'parley.db';

/** True where a store was made before. Makes none. */
export function hasStore(directory: string): boolean {
  return existsSync(join(directory, usualFilename));
}

export async function openSqliteStore(options: SqliteStoreOptions): Promise<OpenedStore> {
  const { now, sinceBoot, rules, processes } = options;
  const { connection, filesystem, wait, created, migration } = await openPlace(options);
  const store = new SqliteStore(connection, { wait, filesystem, now, sinceBoot, rules, processes });
  await store.takeOutAbandoned();
  return { store, created, migration, shareReads: () => connection.shareReads() };
}

/** All rows of the store, for a copy. */
export async function openSqliteRows(options: Omit<SqliteStoreOptions, 'rules'>): Promise<StoreRows> {
  const { connection, wait } = await openPlace(options);
  return new SqliteRows(connection, wait, () => ({ now: options.now(), clock: options.sinceBoot() }));
}

async function openPlace(options: Omit<SqliteStoreOptions, 'rules'>) {
  refuseUnusableBinding(options.nodeApiVersion);
  const { processes, migrations = schema, refusesOlder = false } = options;
  const directory = resolve(options.directory);
  if (refusesOlder && !hasStore(directory))
    throw olderStore(join(directory, usualFilename), 0, migrations.at(-1)?.version ?? 0);
  const { path, filesystem } = prepareStoreFile(
    directory,
    options.filename ?? usualFilename,
    options.filesystemType ?? filesystemType,
  );
  const wait: LockWait = { waitMs: options.lockWaitMs ?? usualLockWaitMs, random: options.random };
  const place = await opened(path, { migrations, refusesOlder }, wait, processes === undefined);
  return { ...place, filesystem, wait };
}

interface Opened {
  readonly connection: Connection;
  readonly created: boolean;
  readonly migration: StoreMigration;
}

/**
 * Even to read, SQLite needs a file of 32 KiB that all processes at a store share. On a full disk a process may have the store alone,
 * and needs none: so what is kept can still be read, and written elsewhere. A store of many callers is not opened so.
 */
async function opened(
  path: string,
  migrations: MigrationOptions,
  wait: LockWait,
  mayBeAlone: boolean,
): Promise<Opened> {
  try {
    return await openedOnce(path, migrations, wait, false);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'STORAGE_FULL') throw error;
    // A store that is to be migrated is copied first, by a second connection: that is not for a full disk.
    const alone = mayBeAlone ? await openedOnce(path, migrations, wait, true).catch(() => null) : null;
    if (alone !== null) return alone;
    const hint = 'What was kept is intact. Free some space and try again.';
    throw error.with({ hint });
  }
}

async function openedOnce(
  path: string,
  migrations: MigrationOptions,
  wait: LockWait,
  isAlone: boolean,
): Promise<Opened> {
  const connection = connect(path);
  try {
    if (isAlone) connection.takeAlone();
    // Even the first question reads the file, and may find it locked.
    await whenUnlocked(() => refuseUnsafeSqlite(sqliteVersion(connection)), wait);
    await whenUnlocked(() => refuseForeignFile(connection), wait);
    await whenUnlocked(() => makeDurable(connection), wait);
    const migration = await migrate(connection, migrations, wait);
    const created = await whenUnlocked(() => holdsNoProject(connection), wait);
    return { connection, created, migration };
  } catch (error) {
    connection.close();
    throw storeError(error, path);
  }
}

function connect(path: string): Connection {
  try {
    return new Connection(openDatabase(path), path);
  } catch (error) {
    throw storeError(error, path);
  }
}

/** A file is ours when it is marked so, or empty: then it is about to become so. */
function refuseForeignFile(connection: Connection): void {
  if (connection.pragma('application_id') === applicationId) return;
  // Asked again as of one moment: another process may be making the store right now.
  connection.run('BEGIN');
  try {
    const id = connection.pragma('application_id');
    const version = connection.pragma('user_version');
    const content = connection.get<{ tables: number }>('SELECT count(*) AS tables FROM sqlite_schema');
    if (id === applicationId || (id === 0 && version === 0 && content?.tables === 0)) return;
  } finally {
    connection.rollback();
  }
  throw new ParleyError('STORE_UNSAFE', `${connection.path} is a database of another program, not a store.`, {
    hint: 'It was not changed. Move it away, or set PARLEY_DATA_DIR to another directory.',
  });
}

/** An acknowledged commit survives a power cut only so; what was asked for is read back, for SQLite refuses in silence. */
function makeDurable(connection: Connection): void {
  // Asked first: to set it, even to what it is, needs a lock that other processes are in the way of.
  if (journalMode(connection) !== 'wal') connection.pragma('journal_mode = WAL');
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  const journal = journalMode(connection);
  const sync = synchronous(connection);
  if (journal === 'wal' && sync === 'full' && connection.pragma('foreign_keys') === 1) return;
  throw new ParleyError(
    'STORE_UNSAFE',
    `The store ${connection.path} cannot be made durable (journal_mode ${journal}, synchronous ${sync}).`,
    { hint: 'Set PARLEY_DATA_DIR to a directory on a local disk.' },
  );
}

function holdsNoProject(connection: Connection): boolean {
  return connection.get('SELECT 1 FROM projects LIMIT 1') === undefined;
}
