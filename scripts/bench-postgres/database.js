// The PostgreSQL server to measure: a temporary one that syncs every commit, or one that is running on this machine. Its processor time is read
// from /proc, summed over all of its processes.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import pg from 'pg';

/** Settings for a server with some GB of memory. */
const settings = [
  'shared_buffers=1GB',
  'maintenance_work_mem=512MB',
  'max_wal_size=8GB',
  'checkpoint_timeout=15min',
];

/** `given`: the URL of a server on this machine, or undefined for a temporary one. */
export async function openDatabase(given, startPostgres) {
  if (given !== undefined) return connected(given, () => {});
  const server = await startPostgres(settings);
  const url = `postgres://${server.user}@127.0.0.1:${server.port}/postgres`;
  return connected(url, () => server.stop());
}

async function connected(url, stop) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const rows = async (sql, values = []) => (await client.query(sql, values)).rows;
  const [facts] =
    await rows(`SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
    current_setting('synchronous_commit') AS commit, pg_backend_pid() AS pid`);
  if (facts.fsync !== 'on' || facts.commit !== 'on')
    throw new Error('The database must have fsync and synchronous_commit on.');
  const postmaster = parentOf(facts.pid);
  return {
    url,
    version: facts.version,
    rows,
    /** The processor time of all processes of the database, in ms. */
    processorTime: () => processorTime(postmaster),
    async close() {
      await client.end();
      stop();
    },
  };
}

/** The URL of the store in a schema of the database. */
export function storeIn({ url }, schema) {
  const store = new URL(url);
  store.searchParams.set('schema', schema);
  return String(store);
}

/** Runs a script with the 32 clients of pgbench, each over a connection of its own, with prepared statements. */
export function pgbench({ url }, script, { home, seconds, variables = {} }) {
  const file = join(home, 'script.sql');
  writeFileSync(file, script);
  const { hostname, port, username, pathname } = new URL(url);
  const words = ['-n', '-M', 'prepared', '-c', '32', '-j', '2', '-T', String(seconds), '-f', file];
  for (const [name, value] of Object.entries(variables)) words.push('-D', `${name}=${value}`);
  words.push('-h', hostname, '-p', port || '5432', '-U', username, pathname.slice(1));
  const { status, stdout, stderr } = spawnSync(findPgbench(), words, { encoding: 'utf8' });
  const rate = /^tps = ([\d.]+)/m.exec(stdout)?.[1];
  const done = /transactions actually processed: (\d+)/.exec(stdout)?.[1];
  if (status !== 0 || rate === undefined || done === undefined)
    throw new Error(`pgbench: ${stdout}${stderr}`);
  return { perSecond: Number(rate), answered: Number(done) };
}

function findPgbench() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian)
    ? readdirSync(debian).map((version) => join(debian, version, 'bin'))
    : [];
  const places = [...(process.env.PATH ?? '').split(delimiter), ...versions.sort().reverse()];
  const found = places.map((place) => join(place, 'pgbench')).find((file) => existsSync(file));
  if (found === undefined) throw new Error('pgbench is missing. It comes with PostgreSQL itself.');
  return found;
}

function statOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may contain anything.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function parentOf(pid) {
  if (!existsSync(`/proc/${pid}/stat`)) throw new Error('The database must run on this machine.');
  return Number(statOf(pid)[1]);
}

const millisecondsOfTick = 10;

/** The sum for the postmaster, its ended processes, and its running processes. */
function processorTime(postmaster) {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const [, parent, ...rest] = statOf(pid);
      const [user, system, userOfEnded, systemOfEnded] = rest.slice(9, 13).map(Number);
      if (Number(parent) === postmaster) ticks += user + system;
      if (Number(pid) === postmaster) ticks += user + system + userOfEnded + systemOfEnded;
    } catch (error) {
      if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error;
    }
  }
  return ticks * millisecondsOfTick;
}
