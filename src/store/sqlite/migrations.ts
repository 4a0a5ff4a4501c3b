// Brings a database to the newest schema, once, even if many processes start at the same moment. It copies a store before it changes the
// store, and refuses a store with a newer schema. A store at the newest schema is opened without this file.
import { rmSync } from 'node:fs';
import type { StoreMigration } from '../../service/administration.ts';
import { systemErrorCode } from '../../system/file-errors.ts';
import { olderStore } from '../older-store.ts';
import { backUp, type UnnamedCopy } from './backup.ts';
import type { Connection } from './connection.ts';
import type { LockWait } from './lock-wait.ts';
import { replyLockWaitMs, whenUnlocked } from './lock-wait.ts';
import { type Migration, schema } from './schema.ts';
import { applicationId, knownVersion, schemaVersion } from './schema-version.ts';

export interface MigrationOptions {
  /** By default Parley's own schema. */
  readonly migrations?: readonly Migration[] | undefined;
  /** True: a store with an older schema is refused and stays unchanged. */
  readonly refusesOlder: boolean;
  /** Called before a store with an older schema is migrated, which blocks the process. */
  readonly announce?: Announce | undefined;
  /** Ends the wait for a process that is migrating the store, which takes up to a minute. Undefined for the wait of any call. */
  readonly stopSignal?: AbortSignal | undefined;
}

export type Announce = (versions: Pick<StoreMigration, 'from' | 'to'>) => Promise<void>;

export async function migrate(
  connection: Connection,
  { migrations = schema, refusesOlder, announce, stopSignal }: MigrationOptions,
  wait: LockWait,
): Promise<StoreMigration> {
  const first = await whenUnlocked(() => pendingMigrations(connection, migrations), wait);
  const to = migrations.at(-1)?.version ?? 0;
  if (first.length === 0) return { from: to, to, backup: null };
  const from = schemaVersion(connection);
  if (refusesOlder) throw olderStore(connection.path, from, to);
  if (from > 0) await announce?.({ from, to });
  // A migration may rebuild a table that other tables refer to. SQLite ignores this pragma inside a transaction.
  connection.pragma('foreign_keys = OFF');
  try {
    await whenUnlocked(
      () => connection.run('BEGIN IMMEDIATE'),
      stopSignal === undefined ? wait : { ...wait, waitMs: replyLockWaitMs },
      () => stopSignal?.aborted !== true,
    );
    return applyPending(connection, migrations);
  } finally {
    connection.pragma('foreign_keys = ON');
  }
}

/** Applies the pending migrations in the transaction that has begun. */
function applyPending(connection: Connection, migrations: readonly Migration[]): StoreMigration {
  let copy: UnnamedCopy | null = null;
  let backup: string | null = null;
  try {
    // The version is read again, because another process may have migrated the store meanwhile.
    const pending = pendingMigrations(connection, migrations);
    const from = schemaVersion(connection);
    if (pending.length > 0 && from > 0) copy = backUp(connection, from);
    for (const migration of pending) apply(connection, migration);
    // Copies of attempts that are killed again and again would fill the disk if each had its name from the beginning.
    backup = copy?.keep() ?? null;
    connection.run('COMMIT');
    return { from, to: pending.at(-1)?.version ?? from, backup };
  } catch (error) {
    // After the end of the transaction, another process may have an unnamed copy of its own.
    copy?.discard();
    connection.rollback();
    // Repeated attempts would fill the disk with copies. After an I/O error the log may contain the whole transaction, so the copy stays.
    if (backup !== null && !systemErrorCode(error).startsWith('SQLITE_IOERR'))
      rmSync(backup, { force: true });
    throw error;
  }
}

function pendingMigrations(connection: Connection, migrations: readonly Migration[]): readonly Migration[] {
  const version = knownVersion(connection, migrations.at(-1)?.version ?? 0);
  return migrations.filter((migration) => migration.version > version);
}

function apply(connection: Connection, migration: Migration): void {
  connection.execute(migration.sql);
  connection.run(
    `INSERT INTO meta (name, value) VALUES ('parley_version', @version)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    { version: migration.parleyVersion },
  );
  connection.pragma(`application_id = ${applicationId}`);
  connection.pragma(`user_version = ${migration.version}`);
}
