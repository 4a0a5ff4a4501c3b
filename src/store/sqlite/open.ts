// Opens the store and checks it: a private file on a local disk, a safe version of SQLite, durable commits, the newest schema. A store that
// fails a check is refused before its file changes.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { StoreMigration } from '../../service/administration.ts';
import { hasCode, ParleyError } from '../../service/errors.ts';
import type { StoreMeasures } from '../../service/store-measures.ts';
import { olderStore } from '../older-store.ts';
import type { SessionStore } from '../session-store.ts';
import type { StoreRows } from '../store-rows.ts';
import { endAbandonedTurns, type OwnerState } from './abandoned-turns.ts';
import { Connection } from './connection.ts';
import type { SqliteDriver } from './driver.ts';
import { FilesInPlace, identityOf } from './files-in-place.ts';
import { filesystemType } from './filesystem.ts';
import { bytesOf, journalMode, sqliteVersion, synchronous } from './inspection.ts';
import type { LockWait } from './lock-wait.ts';
import { defaultLockWaitMs, whenUnlocked } from './lock-wait.ts';
import type { Announce, MigrationOptions } from './migrations.ts';
import { refuseUnsafeSqlite } from './safe-sqlite.ts';
import type { Migration } from './schema.ts';
import { applicationId, knownVersion, newestSchema } from './schema-version.ts';
import { storeError } from './sqlite-errors.ts';
import { SqliteStore } from './sqlite-store.ts';
import type { StoreDependencies } from './store-dependencies.ts';
import { prepareStoreFile, storeFilename } from './store-file.ts';
import { Writer } from './writer.ts';

export interface SqliteStoreOptions
  extends Omit<StoreDependencies, 'wait' | 'filesystem' | 'stateOf' | 'files'> {
  /** The directory of the store. If it does not exist, it is made, and only its owner may use it. */
  readonly directory: string;
  readonly driver: SqliteDriver;
  /** Whether the process that owns a turn still runs; by default nothing is known of any. */
  readonly stateOf?: (owner: string) => OwnerState;
  /** A random number from 0 to 1, which varies the pauses of a wait. */
  readonly random: () => number;
  /** The name of the database file; by default `parley.db`. */
  readonly filename?: string;
  /** The type of the file system; by default the kernel's answer. */
  readonly filesystemType?: (directory: string) => string;
  /** How long (ms) a call waits for a lock of another process; by default `defaultLockWaitMs`. */
  readonly lockWaitMs?: number;
  /** The migrations; by default Parley's own schema. */
  readonly migrations?: readonly Migration[];
  /** True: a store with an older schema is refused, and no store is made. False by default. */
  readonly refusesOlder?: boolean;
  readonly announce?: Announce;
  /** Ends the wait for a process that is migrating the store (migrations.ts). */
  readonly stopSignal?: AbortSignal | undefined;
}

export interface OpenedStore {
  readonly store: SessionStore;
  /** True while the store holds no project; the caller must make the first one. */
  readonly created: boolean;
  readonly migration: StoreMigration;
  /**
   * Until the next turn of the event loop, reads may share one state of the store, taken no earlier than this call. A server uses it for
   * the requests that wait at the same moment: all of them see what was committed before they were sent.
   */
  readonly shareReads: () => void;
  readonly measures: StoreMeasures;
}

/** True if the directory holds a store. Does not make one. */
export function hasStore(directory: string): boolean {
  return existsSync(join(directory, storeFilename));
}

export async function openSqliteStore(options: SqliteStoreOptions): Promise<OpenedStore> {
  const { now, sinceBoot, stateOf = unknownState, rules, processes } = options;
  const { connection, filesystem, wait, created, migration, identity } = await openPlace(options);
  // A new store is written into its file once, so that the file alone is a store from then on.
  const endsWithProcess = options.endsWithProcess === true && !created;
  const store = new SqliteStore(connection, {
    wait,
    filesystem,
    now,
    sinceBoot,
    rules,
    stateOf,
    processes,
    files: new FilesInPlace(connection.path, identity),
    endsWithProcess,
  });
  await store.removeLeftovers();
  const measures: StoreMeasures = {
    gauges: async () => ({ bytes: bytesOf(connection.path), connections: null }),
    onCommit: (listener) => connection.onCommit(listener),
  };
  return { store, created, migration, shareReads: () => connection.shareReads(), measures };
}

/** Opens the store for a copy of all its rows. */
export async function openSqliteRows(options: Omit<SqliteStoreOptions, 'rules'>): Promise<StoreRows> {
  const { connection, wait, identity } = await openPlace(options);
  const { sinceBoot, stateOf = unknownState } = options;
  const { sqliteRows } = await import('./store-rows.ts');
  const abandoned = { connection, clock: sinceBoot(), stateOf, failedEnds: new Set<string>() };
  await endAbandonedTurns(new Writer(connection, wait), abandoned);
  const clocks = () => ({ now: options.now(), clock: sinceBoot() });
  return sqliteRows(connection, wait, clocks, new FilesInPlace(connection.path, identity));
}

function unknownState(): OwnerState {
  return 'unknown';
}

async function openPlace(options: Omit<SqliteStoreOptions, 'rules'>) {
  const { driver, processes, migrations, refusesOlder = false, announce, stopSignal } = options;
  const directory = resolve(options.directory);
  if (refusesOlder && !hasStore(directory))
    throw olderStore(join(directory, storeFilename), 0, newestOf(migrations));
  const { path, filesystem } = prepareStoreFile(
    directory,
    options.filename ?? storeFilename,
    options.filesystemType ?? filesystemType,
  );
  const wait: LockWait = { waitMs: options.lockWaitMs ?? defaultLockWaitMs, random: options.random };
  const opened = await openDatabase(
    { driver, path },
    { migrations, refusesOlder, announce, stopSignal },
    wait,
    processes === undefined,
  );
  return { ...opened, filesystem, wait };
}

interface DatabaseFile {
  readonly driver: SqliteDriver;
  readonly path: string;
}

interface OpenedDatabase {
  readonly connection: Connection;
  readonly created: boolean;
  readonly migration: StoreMigration;
  readonly identity: string | null;
}

/**
 * Opens the database. SQLite needs a file of 32 KiB that all processes share, even to read. On a full disk a single process can take the
 * store alone, without that file, so that its content can still be read and copied elsewhere. A served store is not opened this way.
 */
async function openDatabase(
  file: DatabaseFile,
  migrations: MigrationOptions,
  wait: LockWait,
  mayBeExclusive: boolean,
): Promise<OpenedDatabase> {
  try {
    return await tryToOpen(file, migrations, wait, false);
  } catch (error) {
    if (!hasCode(error, 'STORAGE_FULL')) throw error;
    // A migration needs a copy of the store through a second connection, and a full disk has no room for the copy.
    const { announce: _, ...again } = migrations;
    const alone = mayBeExclusive ? await tryToOpen(file, again, wait, true).catch(() => null) : null;
    if (alone !== null) return alone;
    const hint = 'What was kept is intact. Free some space and try again.';
    throw error.with({ hint });
  }
}

async function tryToOpen(
  file: DatabaseFile,
  migrations: MigrationOptions,
  wait: LockWait,
  isExclusive: boolean,
): Promise<OpenedDatabase> {
  const { path } = file;
  const identity = identityOf(path);
  const connection = connect(file);
  try {
    if (isExclusive) connection.takeExclusive();
    // Even the first query reads the file and may meet a lock.
    await whenUnlocked(
      () => refuseUnsafeSqlite(sqliteVersion(connection), connection.driver.newerSqlite),
      wait,
    );
    await whenUnlocked(() => refuseForeignFile(connection), wait);
    refuseReplaced(path, identity);
    await whenUnlocked(() => makeDurable(connection), wait);
    const migration = await upToDate(connection, migrations, wait);
    const created = await whenUnlocked(() => holdsNoProject(connection), wait);
    return { connection, created, migration, identity };
  } catch (error) {
    connection.close();
    migrations.stopSignal?.throwIfAborted();
    throw storeError(error, path);
  }
}

/** Most stores are at the newest schema, and then neither the migrations nor the code that applies them is loaded. */
async function upToDate(
  connection: Connection,
  options: MigrationOptions,
  wait: LockWait,
): Promise<StoreMigration> {
  const newest = newestOf(options.migrations);
  const version = await whenUnlocked(() => knownVersion(connection, newest), wait);
  if (version === newest) return { from: newest, to: newest, backup: null };
  const { migrate } = await import('./migrations.ts');
  return migrate(connection, options, wait);
}

function newestOf(migrations: readonly Migration[] | undefined): number {
  return migrations === undefined ? newestSchema : (migrations.at(-1)?.version ?? 0);
}

/** Refuses a file whose name went to another store while this process waited for its lock (store-replacement.ts). */
function refuseReplaced(path: string, identity: string | null): void {
  if (identityOf(path) === identity) return;
  throw new ParleyError('STORE_BUSY', `The store ${path} was replaced at this moment.`, {
    hint: 'Nothing was changed. Try again.',
  });
}

function connect({ driver, path }: DatabaseFile): Connection {
  try {
    return Connection.open(driver, path);
  } catch (error) {
    throw storeError(error, path);
  }
}

/** Refuses a file without Parley's mark, unless it is empty: an empty file becomes a store. */
function refuseForeignFile(connection: Connection): void {
  if (connection.pragma('application_id') === applicationId) return;
  // Both values are read again in one transaction, because another process may be making the store at this moment.
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

/**
 * Sets WAL and full synchronization: only then does a committed write survive a power cut. The values are read back because SQLite can
 * refuse them without an error.
 */
function makeDurable(connection: Connection): void {
  // The mode is read first: setting it takes a lock that other processes may hold, even if nothing changes.
  if (journalMode(connection) !== 'wal') connection.pragma('journal_mode = WAL');
  connection.setUp();
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
