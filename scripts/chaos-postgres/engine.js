// A PostgreSQL server of this run, and its failures. It accepts connections only over TLS, except those of this script, which use its socket. Like
// every PostgreSQL server it refuses to run as root, so root runs it as nobody.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
const as = isRoot ? { uid: nobody, gid: nobody } : {};
const user = 'parley';

export class Engine {
  #bin;
  #directory;
  port;

  constructor({ bin, directory, port }) {
    this.#bin = bin;
    this.#directory = directory;
    this.port = port;
    mkdirSync(directory, { mode: 0o700 });
    if (isRoot) chownSync(directory, nobody, nobody);
  }

  get #data() {
    return join(this.#directory, 'data');
  }

  /** Creates a server with these certificates, which syncs every commit. */
  async create({ certificate, key }) {
    await this.#run(
      'initdb',
      '-D',
      this.#data,
      '-U',
      user,
      '-A',
      'trust',
      '--no-sync',
      '-E',
      'UTF8',
      '--locale=C',
    );
    for (const [from, name] of [
      [certificate, 'server.crt'],
      [key, 'server.key'],
    ]) {
      copyFileSync(from, join(this.#data, name));
      if (isRoot) chownSync(join(this.#data, name), nobody, nobody);
    }
    writeFileSync(
      join(this.#data, 'pg_hba.conf'),
      'local all all trust\nlocal replication all trust\nhostssl all all 127.0.0.1/32 trust\n',
    );
    appendFileSync(
      join(this.#data, 'postgresql.conf'),
      `\nssl = on\nlisten_addresses = '127.0.0.1'\nmax_connections = 200\nrestart_after_crash = on\n`,
    );
  }

  /** Starts a standby of `primary`, whose commits wait for it from then on. */
  async createAsStandbyOf(primary) {
    const source = ['-h', primary.#directory, '-p', String(primary.port), '-U', user];
    await this.#run(
      'pg_basebackup',
      '-D',
      this.#data,
      ...source,
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
      '--no-sync',
    );
    await this.start();
    await primary.rows(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await primary.rows('SELECT pg_reload_conf()');
    const isSynchronous = async () =>
      (await primary.rows(`SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`)).length > 0;
    while (!(await isSynchronous())) await delay(20);
  }

  /** Resolves when it accepts connections, with that time. */
  async start() {
    const words = [
      '-D',
      this.#data,
      '-p',
      String(this.port),
      '-c',
      `unix_socket_directories=${this.#directory}`,
    ];
    // A killed server may still hold the shared memory that its successor needs.
    for (;;) {
      const server = spawn(join(this.#bin, 'postgres'), words, { ...as, stdio: 'ignore', detached: true });
      server.unref();
      const ended = once(server, 'exit').then(() => false);
      if (await Promise.race([ended, this.answers().then(() => true)])) return performance.now();
      await delay(20);
    }
  }

  /** Starts the server. Resolves when it accepts connections, with that time. */
  async answers() {
    for (;;) {
      try {
        await this.rows('SELECT 1');
        return performance.now();
      } catch {
        await delay(5);
      }
    }
  }

  async rows(sql) {
    const client = new pg.Client({ host: this.#directory, port: this.port, user, database: 'postgres' });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Cuts all connections of the servers. */
  async terminateBackends() {
    await this.rows(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parley'`,
    ).catch(() => {});
  }

  /** Kills a backend, after which PostgreSQL ends all and recovers. Resolves when it accepts connections again, with that time. */
  async killBackend() {
    const [row] = await this.rows(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'parley' ORDER BY random() LIMIT 1`,
    );
    if (row === undefined) return performance.now();
    process.kill(row.pid, 'SIGKILL');
    while (await this.#takesConnections()) await delay(2);
    return this.answers();
  }

  /** Kills the postmaster: the other processes end by themselves. */
  killPostmaster() {
    const [pid] = readFileSync(join(this.#data, 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGKILL');
  }

  /** `fast` ends its connections, `immediate` is like a crash. */
  async stop(mode) {
    await this.#run('pg_ctl', '-D', this.#data, '-m', mode, '-w', 'stop');
  }

  /** Promotes a standby, and resolves when it accepts writes, with that time. */
  async promote() {
    await this.#run('pg_ctl', '-D', this.#data, '-W', 'promote');
    while ((await this.rows('SELECT pg_is_in_recovery() AS is_standby'))[0].is_standby) await delay(5);
    return performance.now();
  }

  /** Stops the server at once, in any state, even when this process ends. */
  end() {
    try {
      const words = ['-D', this.#data, '-m', 'immediate', '-w', 'stop'];
      execFileSync(join(this.#bin, 'pg_ctl'), words, { ...as, cwd: '/', stdio: 'ignore' });
    } catch {
      // The server is not running.
    }
  }

  async #takesConnections() {
    return this.rows('SELECT 1').then(
      () => true,
      () => false,
    );
  }

  async #run(program, ...words) {
    await promisify(execFile)(join(this.#bin, program), words, { ...as, cwd: '/' });
  }
}
