// Brings a database to the newest schema, once, even if many servers start at the same moment. Refuses a store with a newer schema. All
// migrations are one transaction, so that they work through a pooler, and a server that dies leaves nothing half done.
import type { StoreMigration } from '../../service/administration.ts';
import { ParleyError } from '../../service/errors.ts';
import { newerStore } from '../newer-store.ts';
import { olderStore } from '../older-store.ts';
import type { Ask, ConnectionPool } from './connection-pool.ts';
import { codeOf, isOfStatement } from './postgres-errors.ts';
import { type Migration, schema } from './schema.ts';
import { quotedName, statement } from './statement.ts';

/** The lock of all servers that migrate a store in this database. The number is "PRLY". */
const lock = statement('SELECT pg_advisory_xact_lock(1347570777)');
const hasMeta = statement(`SELECT to_regclass('parley.meta') IS NOT NULL AS is_there`);
const readVersion = statement(`SELECT value FROM parley.meta WHERE name = 'schema_version'`);
const readParleyVersion = statement(`SELECT value FROM parley.meta WHERE name = 'parley_version'`);
const write = statement(`
  INSERT INTO parley.meta (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`);

/** The errors of a server that lost the race, on an engine whose advisory locks do nothing. */
const raceCodes = ['23505', '42P06', '42P07', '42710', 'XX000'];

const noRight = '42501';

export interface MigrationOptions {
  /** The store without user and password. */
  readonly name: string;
  readonly schema: string;
  readonly migrations?: readonly Migration[] | undefined;
  /** True: a store with an older schema is refused, and left as it is. */
  readonly refusesOlder?: boolean | undefined;
}

/** If many servers migrate a store at once, only one of them reports the migration. */
export async function migrate(
  connections: ConnectionPool,
  options: MigrationOptions,
): Promise<StoreMigration> {
  const migrations = options.migrations ?? schema;
  const newest = migrations.at(-1)?.version ?? 0;
  let version = newest;
  for (let tries = 0; ; tries += 1) {
    try {
      version = await schemaVersion(connections.ask);
      if (version > newest) throw await describeNewerStore(connections.ask, options.name, version, newest);
      if (version < newest && options.refusesOlder) throw olderStore(options.name, version, newest);
      const from =
        version === newest
          ? newest
          : await connections.transaction((ask) => applyPending(ask, options, migrations), true);
      return { from, to: newest, backup: null };
    } catch (error) {
      if (raceCodes.includes(codeOf(error)) && tries < 5) continue;
      if (version > 0 && version < newest && codeOf(error) === noRight)
        throw olderStore(options.name, version, newest, error);
      throw isOfStatement(error) ? foreignTables(options, error) : error;
    }
  }
}

function foreignTables({ name, schema }: MigrationOptions, cause: unknown): ParleyError {
  return new ParleyError(
    'STORE_UNSAFE',
    `The schema ${schema} of the database ${name} is not that of a store.`,
    {
      hint: 'Choose another schema for the store, or another database. Nothing was changed.',
      cause,
    },
  );
}

/** Applies the pending migrations. Returns the version before them. */
async function applyPending(
  ask: Ask,
  { schema: name }: MigrationOptions,
  migrations: readonly Migration[],
): Promise<number> {
  await ask(lock);
  // Asked again: another server may have been first.
  const version = await schemaVersion(ask);
  if (version === 0) await ask(statement(`CREATE SCHEMA IF NOT EXISTS ${quotedName(name)}`));
  for (const migration of migrations) {
    if (migration.version <= version) continue;
    for (const part of migration.sql.split(';')) if (part.trim() !== '') await ask(statement(part));
    await ask(write, ['schema_version', String(migration.version)]);
    await ask(write, ['parley_version', migration.parleyVersion]);
  }
  return version;
}

/** The version of the stored schema; 0 if there is no store yet. */
export async function schemaVersion(ask: Ask): Promise<number> {
  const [meta] = await ask<{ is_there: boolean }>(hasMeta);
  if (!meta?.is_there) return 0;
  const [row] = await ask<{ value: string }>(readVersion);
  return Number(row?.value ?? 0);
}

/** Throws `STORE_NEWER` if another program has migrated the store since this one opened it with the schema `opened`. */
export async function refuseMigrated(ask: Ask, name: string, opened: number): Promise<void> {
  const [row] = await ask<{ value: string }>(readVersion).catch((error: unknown) => {
    // The tables are gone. The error of the caller's own statement shows that best.
    if (isOfStatement(error)) return [];
    throw error;
  });
  const version = Number(row?.value ?? 0);
  if (version > opened) throw await describeNewerStore(ask, name, version, opened);
}

async function describeNewerStore(
  ask: Ask,
  name: string,
  version: number,
  newest: number,
): Promise<ParleyError> {
  const [row] = await ask<{ value: string }>(readParleyVersion);
  return newerStore(name, { version, newest, parleyVersion: row?.value ?? null });
}
