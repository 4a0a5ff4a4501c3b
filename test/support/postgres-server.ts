// A PostgreSQL server of the tests' own, in a temporary directory: started once for all files, a database for each. It is found where
// PARLEY_TEST_PG_BIN says, on the PATH, or where Debian puts it. It refuses to run as root, so root runs it as nobody.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const nobody = 65_534;

export interface PostgresServer {
  readonly port: number;
  readonly user: string;
  stop(): void;
}

/** The directory of `initdb` and `postgres`; null where there is none. */
export function findPostgres(env: NodeJS.ProcessEnv): string | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian)
    ? readdirSync(debian).sort((one, other) => Number(other) - Number(one))
    : [];
  const places = [
    ...(env.PARLEY_TEST_PG_BIN === undefined ? [] : [env.PARLEY_TEST_PG_BIN]),
    ...(env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  return places.find((place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres'))) ?? null;
}

/** `settings`: lines of `name=value` for the server. Without any it is fast and would lose commits in a power cut. */
export async function startPostgres(bin: string, settings: readonly string[] = ['fsync=off']): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-postgres-'));
  const isRoot = process.getuid?.() === 0;
  const as = isRoot ? { uid: nobody, gid: nobody } : {};
  if (isRoot) chownSync(directory, nobody, nobody);
  const data = join(directory, 'data');
  const user = 'parley';
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', user, '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C'],
    { ...as, stdio: 'pipe' },
  );
  const port = await freePort();
  const options = ['-D', data, '-p', String(port), '-c', `unix_socket_directories=${directory}`, '-c', 'listen_addresses=127.0.0.1'];
  for (const setting of ['max_connections=200', ...settings]) options.push('-c', setting);
  const server = spawn(join(bin, 'postgres'), options, { ...as, stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise<void>((resolve, reject) => {
    let log = '';
    server.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes('ready to accept connections')) resolve();
    });
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${log}`)));
  });
  server.stderr.resume();
  return {
    port,
    user,
    stop() {
      spawnSync(join(bin, 'pg_ctl'), ['-D', data, '-m', 'immediate', 'stop'], { ...as, stdio: 'ignore' });
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
