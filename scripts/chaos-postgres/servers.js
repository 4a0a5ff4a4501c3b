// A `parley serve` of this run, on a port that it keeps over restarts, and its connection to each database: a proxy that can become silent.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const program = fileURLToPath(new URL('../../bin/parley.js', import.meta.url));
const shiftedClock = fileURLToPath(new URL('./shifted-clock.cjs', import.meta.url));

export class Server {
  #place;
  #clockMs;
  #child = null;
  #store;
  port;
  /** The proxies to the databases, in the order in which the server tries them. */
  ways;

  /** `place`: the directory of the configuration, and the file of modes. `clockMs`: how far its clock is ahead. */
  constructor({ place, port, ways, authority, clockMs = 0 }) {
    this.#place = place;
    this.#clockMs = clockMs;
    this.port = port;
    this.ways = ways;
    const hosts = ways.map((way) => `127.0.0.1:${way.port}`).join(',');
    const attributes = ways.length > 1 ? '&target_session_attrs=read-write' : '';
    this.#store = `postgres://parley@${hosts}/postgres?sslmode=verify-full&sslrootcert=${authority}${attributes}`;
  }

  get #env() {
    return {
      PATH: process.env.PATH,
      PARLEY_CONFIG_DIR: this.#place.directory,
      PARLEY_DATA_DIR: this.#place.directory,
      PARLEY_STORE: this.#store,
      ...(this.#clockMs !== 0 && {
        NODE_OPTIONS: `--require ${shiftedClock}`,
        CHAOS_CLOCK_MS: String(this.#clockMs),
      }),
    };
  }

  async newKey() {
    const words = [program, 'keys', 'create', '--project', 'chaos'];
    const { stdout } = await promisify(execFile)(process.execPath, words, { env: this.#env });
    return stdout.trim();
  }

  /** Resolves when it listens. */
  async start() {
    const words = [
      ...[program, 'serve', '--port', String(this.port), '--json', '--quiet', '--drain', '0'],
      ...['--modes', this.#place.modes, '--rate-limit', '1000000', '--stream-limit', '1000000'],
    ];
    const child = spawn(process.execPath, words, { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    let log = '';
    child.stderr.on('data', (text) => {
      log = `${log}${text}`.slice(-100_000);
    });
    this.log = () => log;
    const died = once(child, 'exit').then(() => {
      throw new Error(`A server ended at its start: ${log}`);
    });
    died.catch(() => {});
    await Promise.race([once(child.stdout, 'data'), died]);
  }

  /** Sends a signal, and resolves when the process is gone. */
  async end(signal) {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
}
