// Opens one connection, and refuses an unsafe database: what was acknowledged must survive a power cut, and the server must be the one that
// takes writes.
import { connect as connectSocket, Socket } from 'node:net';
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

/** A statement that takes longer has failed, ms. */
export const maxAnswerMs = 10_000;
/** The time (ms) between two tries while no host has answered. */
const betweenTriesMs = 500;
const defaultConnectMs = 4000;
/** How long the request to cancel a statement may take, ms. */
const cancelMs = 500;
/** The code of that request (PostgreSQL documentation, section 55.7: CancelRequest). */
const cancelCode = 80_877_102;

interface ServerFacts {
  readonly version: number;
  readonly is_standby: boolean;
  readonly is_read_only: boolean;
  readonly encoding: string;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly standard_conforming_strings: string;
  readonly array_nulls: string;
}

const facts = `
  SELECT current_setting('server_version_num')::integer AS version, pg_is_in_recovery() AS is_standby,
    current_setting('transaction_read_only')::boolean AS is_read_only,
    current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
    current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_commit') AS synchronous_commit,
    current_setting('standard_conforming_strings') AS standard_conforming_strings,
    current_setting('array_nulls') AS array_nulls`;

const oldestVersion = 130_000;

interface ConnectOptions {
  /** The store without user and password. */
  readonly name: string;
  /** True for a test: also accepts a database that may lose acknowledged commits in a power cut. */
  readonly acceptsLoss?: boolean | undefined;
  /** True if there is no other host. A host whose default_transaction_read_only is on is then accepted, because it can be read. */
  readonly isOnly?: boolean | undefined;
  /** How long all tries together may take, ms. */
  readonly connectMs?: number | undefined;
}

/** The connection settings of one server. `password` is empty if none is needed. */
export type ConnectionConfig = Pick<
  pg.ClientConfig,
  'host' | 'port' | 'user' | 'database' | 'ssl' | 'password'
>;

/** A connection whose socket can be closed without a message to the server, which may be unreachable. */
export class Connection extends pg.Client {
  /** The number of the server process; pg sets it. */
  declare readonly processID: number | null;
  /** What the server gave to this connection, to cancel its statements over another one; pg sets it. */
  declare readonly secretKey: number | null;
  readonly #socket: Socket;
  /** Resolves when the request to cancel a statement was received, or was given up. */
  cancelled: Promise<void> | null = null;

  constructor(config: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
    // A connection that fails later reports the failure to its users. Without a listener the process would end.
    this.on('error', () => {});
  }

  /** Cancels what was sent, which may wait for a lock. A pooler forwards the request, as long as this connection is open. */
  cancelStatement(): void {
    const { host, port, processID, secretKey } = this;
    if (processID === null || secretKey === null) return;
    const request = Buffer.alloc(16);
    for (const [index, value] of [16, cancelCode, processID, secretKey].entries())
      request.writeInt32BE(value, index * 4);
    this.cancelled = new Promise((resolve) => {
      const socket = connectSocket({ host, port, timeout: cancelMs }, () => socket.write(request));
      // The server closes the connection when it has received the request.
      socket.on('end', () => socket.destroy());
      socket.on('timeout', () => socket.destroy());
      socket.on('error', () => {});
      socket.on('close', () => resolve());
      socket.resume();
    });
  }

  destroy(): void {
    if (this.cancelled === null) this.#socket.destroy();
    else void this.cancelled.then(() => this.#socket.destroy());
  }
}

/**
 * Tries the hosts in their order, again and again, until one of them takes writes. The next host is tried as soon as one refuses or has not
 * answered for half a second, so a host that does not answer delays no call, and a host that comes back is found soon. Rejects when all
 * have refused.
 */
export function connect(hosts: readonly ConnectionConfig[], options: ConnectOptions): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const trying = new Set<Connection>();
    let tries = 0;
    let next: NodeJS.Timeout | undefined;
    const settle = (taken: Connection | null) => {
      clearTimeout(next);
      clearTimeout(limit);
      for (const connection of trying) if (connection !== taken) connection.destroy();
      trying.clear();
    };
    const limit = setTimeout(() => {
      settle(null);
      reject(new Error('timeout expired'));
    }, options.connectMs ?? defaultConnectMs);
    const start = () => {
      clearTimeout(next);
      next = setTimeout(start, betweenTriesMs);
      const connection = connectionTo(hosts[tries % hosts.length] as ConnectionConfig, options);
      tries += 1;
      trying.add(connection);
      login(connection, options).then(
        () => {
          if (!trying.has(connection)) return;
          settle(connection);
          resolve(connection);
        },
        (error: unknown) => {
          connection.destroy();
          if (!trying.delete(connection)) return;
          if (isPassing(error) && tries < hosts.length) return start();
          if (isPassing(error) && trying.size > 0) return;
          settle(null);
          reject(error);
        },
      );
    };
    start();
  });
}

function connectionTo(config: ConnectionConfig, { connectMs }: ConnectOptions): Connection {
  return new Connection({
    connectionTimeoutMillis: connectMs ?? defaultConnectMs,
    query_timeout: maxAnswerMs,
    keepAlive: true,
    application_name: 'parley',
    ...config,
    types,
  });
}

async function login(connection: Connection, options: ConnectOptions): Promise<void> {
  await connection.connect();
  const { rows } = await connection.query<ServerFacts>(facts);
  refuseUnsafe(rows[0] as ServerFacts, options);
}

function refuseUnsafe(server: ServerFacts, { name, acceptsLoss, isOnly }: ConnectOptions): void {
  const unsafe = (what: string, hint: string) =>
    new ParleyError('STORE_UNSAFE', `The database ${name} ${what}.`, {
      hint: `${hint} Nothing was changed.`,
    });
  if (server.version < oldestVersion)
    throw unsafe('is older than PostgreSQL 13', 'Use PostgreSQL 13 or newer.');
  if (server.is_standby) throw readOnly('the server is a standby, and takes no writes');
  if (server.is_read_only && !isOnly) throw readOnly('default_transaction_read_only is on');
  if (server.encoding !== 'UTF8')
    throw unsafe(`has the encoding ${server.encoding}`, 'Make a database with the encoding UTF8.');
  // Without array_nulls the groups of calls would store the text NULL for what is not given.
  for (const setting of ['standard_conforming_strings', 'array_nulls'] as const) {
    if (server[setting] !== 'on') throw unsafe(`has ${setting} off for this user`, `Set ${setting} to on.`);
  }
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

function readOnly(message: string): Error {
  return Object.assign(new Error(message), { code: '25006' });
}
