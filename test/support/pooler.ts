// pgbouncer in transaction mode in front of a PostgreSQL server of the tests: each transaction gets the next of a few connections. It refuses to
// run as root, as PostgreSQL does.
import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { mayTest } from './machine.ts';
import { freePort, nobody, type PostgresServer } from './postgres-server.ts';

export interface Pooler {
  readonly port: number;
  readonly user: string;
  close(): void;
}

/** Debian installs it in a directory that may not be on a user's PATH. */
const program = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  .map((place) => join(place, 'pgbouncer'))
  .find((path) => existsSync(path));

/** In CI a missing pooler is an error. */
export const hasPooler = mayTest(program !== undefined, 'the command pgbouncer');

/** `connections` to each database, for all clients together; `settings`: further lines of its configuration. */
export async function startPooler(
  database: PostgresServer,
  connections = 4,
  settings: readonly string[] = [],
): Promise<Pooler> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-pooler-'));
  const port = await freePort();
  const configuration = join(directory, 'pgbouncer.ini');
  const users = join(directory, 'users');
  writeFileSync(users, `"${database.user}" ""\n`);
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${database.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${users}`,
    'pool_mode = transaction',
    `default_pool_size = ${connections}`,
    'max_client_conn = 500',
    // Maximises how often a statement is prepared over one connection and run over another.
    'server_round_robin = 1',
    ...settings,
  ];
  writeFileSync(configuration, `${lines.join('\n')}\n`);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const path of [directory, configuration, users]) chownSync(path, nobody, nobody);
  const child = spawn(program ?? 'pgbouncer', [configuration], {
    ...(isRoot && { uid: nobody, gid: nobody }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes('process up')) resolve();
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`pgbouncer ended with ${code}: ${log}`)));
  });
  return {
    port,
    user: database.user,
    close() {
      child.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
