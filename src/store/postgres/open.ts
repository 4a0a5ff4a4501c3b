// Opens a store in PostgreSQL: connections to a database that keeps its promises, and the newest schema.
import type { StoreMigration } from '../../service/administration.ts';
import type { StoreRows } from '../store-rows.ts';
import type { StoreRules } from '../store-rules.ts';
import { type ConnectionConfig, connect } from './connect.ts';
import { ConnectionPool } from './connection-pool.ts';
import { migrate } from './migrations.ts';
import { storeError } from './postgres-errors.ts';
import { PostgresStore } from './postgres-store.ts';
import type { Migration } from './schema.ts';
import { ServerBeat, type ServerIdentity } from './servers.ts';
import { statement } from './statement.ts';
import { PostgresRows } from './store-rows.ts';

export interface PostgresStoreOptions {
  /** The store without user and password, for errors. */
  readonly name: string;
  /** Tried in this order, until one of them takes writes. */
  readonly hosts: readonly ConnectionConfig[];
  /** Where its tables are: letters, digits and `_`. */
  readonly schema: string;
  readonly now: () => number;
  readonly rules: StoreRules;
  /** 0 to 1, for pauses of unequal length. */
  readonly random: () => number;
  readonly connections: number;
  /** How long a call is sent again while the database gives no answer, ms. */
  readonly patienceMs: number;
  /** Of a connection (connection-pool.ts), and of all tries to make one (connect.ts), ms. */
  readonly silenceMs?: number;
  readonly connectMs?: number;
  readonly prepare: boolean;
  readonly acceptsLoss?: boolean;
  /** For a process that serves: the others learn by its beat that it lives. */
  readonly server?: ServerIdentity;
  /** Parley's own schema. */
  readonly migrations?: readonly Migration[];
  /** True: a store with an older schema is refused, and none is made. False without it. */
  readonly refusesOlder?: boolean;
}

export interface OpenedPostgresStore {
  readonly store: PostgresStore;
  /** True while the store holds no project: somebody has to make the first. */
  readonly created: boolean;
  /** Servers that live; 1 for a process that does not serve. */
  readonly servers: () => number;
  readonly migration: StoreMigration;
}

const anyProject = statement('SELECT 1 FROM parley.projects LIMIT 1');

export async function openPostgresStore(options: PostgresStoreOptions): Promise<OpenedPostgresStore> {
  const { name, now, rules } = options;
  const { connections, migration, created } = await openPlace(options);
  const beat = options.server === undefined ? null : new ServerBeat(connections, options.server);
  try {
    await beat?.start();
  } catch (error) {
    await connections.close();
    throw storeError(error, name);
  }
  const store = new PostgresStore(connections, { name, now, rules, beat });
  return { store, created, migration, servers: () => beat?.servers ?? 1 };
}

/** All rows of the store, for a copy. */
export async function openPostgresRows(
  options: Omit<PostgresStoreOptions, 'now' | 'rules' | 'server'>,
): Promise<StoreRows> {
  const { connections } = await openPlace(options);
  return new PostgresRows(connections, options.name);
}

async function openPlace(options: Omit<PostgresStoreOptions, 'now' | 'rules' | 'server'>) {
  const { name, hosts, schema, random, patienceMs, silenceMs, prepare, migrations, refusesOlder } = options;
  const { acceptsLoss, connectMs } = options;
  const connections = new ConnectionPool({
    connect: () => connect(hosts, { name, acceptsLoss, connectMs }),
    ...{ name, schema, random, patienceMs, silenceMs, prepare, size: options.connections },
  });
  try {
    const migration = await migrate(connections, { name, schema, migrations, refusesOlder });
    const projects = await connections.ask(anyProject);
    return { connections, migration, created: projects.length === 0 };
  } catch (error) {
    await connections.close();
    throw storeError(error, name);
  }
}
