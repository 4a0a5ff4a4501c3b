// Opens one connection. Refuses a database that could lose acknowledged commits in a power cut, a server that is too old, and a standby.
import pg from 'pg';
import { ParleyError } from '../../service/errors.ts';
import { isPassing } from './postgres-errors.ts';

const oidOfBigint = 20;
const oidOfNumeric = 1700;

/** 64-bit numbers become JavaScript numbers, because every one that this store keeps is a safe integer. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: 'text') =>
    oid === oidOfBigint || oid === oidOfNumeric
      ? Number
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** A connection without an answer for this time (ms) counts as lost. */
const answerMs = 10_000;

interface ServerFacts {
  readonly version: number;
  readonly is_standby: boolean;
  readonly encoding: string;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly conforming: string;
}

const facts = `
  SELECT current_setting('server_version_num')::integer AS version, pg_is_in_recovery() AS is_standby,
    current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
    current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_commit') AS synchronous_commit,
    current_setting('standard_conforming_strings') AS conforming`;

const oldestVersion = 130_000;

export interface ConnectOptions {
  /** The store without user and password. */
  readonly name: string;
  /** True for a test: also accepts a database that may lose acknowledged commits in a power cut. */
  readonly acceptsLoss?: boolean | undefined;
}

/** The connection settings of one server. `password` is empty if none is needed. */
export type ConnectionConfig = Pick<
  pg.ClientConfig,
  'host' | 'port' | 'user' | 'database' | 'ssl' | 'password'
>;

/** Connects to the first host, in the given order, that accepts writes. Rejects with the last failure. */
export async function connect(
  hosts: readonly ConnectionConfig[],
  options: ConnectOptions,
): Promise<pg.Client> {
  let failure: unknown;
  for (const host of hosts) {
    try {
      return await connectTo(host, options);
    } catch (error) {
      failure = error;
      if (!isPassing(error)) throw error;
    }
  }
  throw failure;
}

async function connectTo(config: ConnectionConfig, options: ConnectOptions): Promise<pg.Client> {
  const client = new pg.Client({
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
    keepAlive: true,
    application_name: 'parley',
    ...config,
    types,
  });
  // A later failure reaches the callers through their queries. Without a listener the `error` event would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<ServerFacts>(facts);
    refuseUnsafe(rows[0] as ServerFacts, options);
    return client;
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
}

function refuseUnsafe(server: ServerFacts, { name, acceptsLoss }: ConnectOptions): void {
  const unsafe = (what: string, hint: string) =>
    new ParleyError('STORE_UNSAFE', `The database ${name} ${what}.`, {
      hint: `${hint} Nothing was changed.`,
    });
  if (server.version < oldestVersion)
    throw unsafe('is older than PostgreSQL 13', 'Use PostgreSQL 13 or newer.');
  if (server.is_standby)
    throw Object.assign(new Error('the server is a standby, and takes no writes'), { code: '25006' });
  if (server.encoding !== 'UTF8')
    throw unsafe(`has the encoding ${server.encoding}`, 'Make a database with the encoding UTF8.');
  if (server.conforming !== 'on')
    throw unsafe('has standard_conforming_strings off', 'Set standard_conforming_strings to on.');
  if (acceptsLoss) return;
  for (const setting of ['fsync', 'full_page_writes'] as const) {
    if (server[setting] !== 'on')
      throw unsafe(`has ${setting} off, so a power cut may damage it`, `Set ${setting} to on.`);
  }
  if (server.synchronous_commit === 'off')
    throw unsafe(
      'has synchronous_commit off for this user, so an acknowledged reply may be lost',
      'Set synchronous_commit to on.',
    );
}
