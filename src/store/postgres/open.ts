// Opens a store in PostgreSQL: connects, checks the database (connect.ts), and brings it to the newest schema.
import type { StoreMigration } from '../../service/administration.ts';
import type { StoreMeasures } from '../../service/store-measures.ts';
import type { ModeSet, ModeStore } from '../mode-store.ts';
import type { StoreRows } from '../store-rows.ts';
import type { StoreRules } from '../store-rules.ts';
import { type ConnectionConfig, connect } from './connect.ts';
import { ConnectionPool } from './connection-pool.ts';
import { storeBytesSoon } from './inspection.ts';
import { migrate } from './migrations.ts';
import { modesUnless, postgresModes } from './modes.ts';
import { PostgresStore } from './postgres-store.ts';
import { closeAllAbandoned } from './reply-parts.ts';
import type { Migration } from './schema.ts';
import { ServerBeat, type ServerIdentity } from './servers.ts';
import { statement } from './statement.ts';
import { postgresRows } from './store-rows.ts';

export interface PostgresStoreOptions {
  /** The store without user and password, for errors. */
  readonly name: string;
  /** The hosts, tried in this order until one accepts writes. */
  readonly hosts: readonly ConnectionConfig[];
  /** The PostgreSQL schema of the tables: letters, digits and `_`. */
  readonly schema: string;
  readonly now: () => number;
  readonly rules: StoreRules;
  /** A random number from 0 to 1, which varies the pauses between attempts. */
  readonly random: () => number;
  /** The most connections at the same time. */
  readonly connections: number;
  /** How long (ms) a call is repeated while the database does not answer. */
  readonly patienceMs: number;
  /** How long (ms) a connection may be silent (connection-pool.ts). */
  readonly silenceMs?: number;
  /** How long (ms) all tries to connect may take (connect.ts). */
  readonly connectMs?: number;
  readonly prepare: boolean;
  readonly acceptsLoss?: boolean;
  /** For a process that serves. Its heartbeat shows the other servers that it lives. */
  readonly server?: ServerIdentity;
  /** The migrations; by default Parley's own schema. */
  readonly migrations?: readonly Migration[];
  /** True: a store with an older schema is refused, and no store is made. False by default. */
  readonly refusesOlder?: boolean;
  /** Fires when the process is to end (connection-pool.ts). Missing for a process that serves, whose replies may end. */
  readonly stopSignal?: AbortSignal;
}

export interface OpenedPostgresStore {
  readonly store: PostgresStore;
  /** True while the store holds no project; the caller must make the first one. */
  readonly created: boolean;
  /** The number of live servers; 1 for a process that does not serve. */
  readonly servers: () => number;
  readonly migration: StoreMigration;
  readonly modes: OpenedModes;
  readonly measures: StoreMeasures;
}

/** The modes of the store, for a service that uses them. */
export interface OpenedModes {
  /** The modes when the store was opened. */
  readonly first: ModeSet;
  read(): Promise<ModeSet>;
  /** The listener gets the modes after each change, if the process serves. */
  follow(listener: (modes: ModeSet) => void): void;
}

const firstLook = statement(`
  SELECT EXISTS (SELECT 1 FROM parley.projects) AS has_projects, ${modesUnless(`''`)} AS modes`);

export async function openPostgresStore(options: PostgresStoreOptions): Promise<OpenedPostgresStore> {
  const { name, now, rules } = options;
  const { connections, migration, created, modes } = await openPlace(options, options.server !== undefined);
  const beat = options.server && new ServerBeat(connections, modes.version, options.server);
  try {
    await beat?.start();
  } catch (error) {
    await connections.close();
    throw connections.failureOf(error);
  }
  const store = new PostgresStore(connections, {
    name,
    schema: migration.to,
    now,
    rules,
    beat: beat ?? null,
  });
  const modeStore = postgresModes(connections);
  return {
    ...{ store, created, migration, servers: () => beat?.servers ?? 1 },
    measures: {
      gauges: async () => ({
        bytes: await storeBytesSoon(connections, name),
        connections: connections.state,
      }),
      onCommit: (listener) => connections.onCommit(listener),
    },
    modes: {
      first: modes,
      read: () => modeStore.read(),
      follow: (listener) => beat?.followModes(listener),
    },
  };
}

type PlaceOptions = Omit<PostgresStoreOptions, 'now' | 'rules' | 'server'>;

/** Opens the store for a copy of all its rows. */
export async function openPostgresRows(options: PlaceOptions): Promise<StoreRows> {
  const { connections } = await openPlace(options);
  // A database that cannot be written can be copied without them.
  await closeAllAbandoned(connections.ask).catch(() => {});
  return postgresRows(connections, options.name);
}

/** Opens the modes of the store, to read and change them. */
export async function openPostgresModes(options: PlaceOptions): Promise<ModeStore> {
  const { connections } = await openPlace(options);
  return postgresModes(connections);
}

async function openPlace(options: PlaceOptions, isServer = false) {
  const { name, hosts, schema, random, patienceMs, silenceMs, prepare, migrations, refusesOlder } = options;
  const { acceptsLoss, connectMs, stopSignal } = options;
  const connections = new ConnectionPool({
    connect: () => connect(hosts, { name, acceptsLoss, connectMs, isOnly: hosts.length === 1 }),
    ...{ name, schema, random, patienceMs, silenceMs, prepare, stopSignal, size: options.connections },
    hasUrgentCalls: isServer,
  });
  try {
    const migration = await migrate(connections, { name, schema, migrations, refusesOlder });
    const [look] = await connections.ask<{ has_projects: boolean; modes: ModeSet }>(firstLook);
    const { has_projects, modes } = look as { has_projects: boolean; modes: ModeSet };
    return { connections, migration, created: !has_projects, modes };
  } catch (error) {
    await connections.close();
    throw connections.failureOf(error);
  }
}
