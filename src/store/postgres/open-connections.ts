// The connections to one database: opened when they are needed, up to a fixed number, and given to the calls that wait. Urgent calls go
// first; the others go in their order.
import { ParleyError } from '../../service/errors.ts';
import type { StoreConnections } from '../../service/store-measures.ts';
import { storeClosed } from '../store-closed.ts';
import type { Connection } from './connect.ts';
import type { PoolOptions } from './pool-options.ts';
import { isPassing, storeError } from './postgres-errors.ts';

/** With `hasUrgentCalls`, other calls than the urgent ones leave one of several connections free. */
type OpenConnectionsOptions = Pick<PoolOptions, 'connect' | 'name' | 'size' | 'hasUrgentCalls'>;

interface Waiting {
  readonly isUrgent: boolean;
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: unknown) => void;
}

export class OpenConnections {
  readonly #options: OpenConnectionsOptions;
  readonly #free: Connection[] = [];
  /** The connections of calls that are not urgent, and how many there may be. */
  readonly #ordinary = new Set<Connection>();
  readonly #maxOrdinary: number;
  readonly #waiting: Waiting[] = [];
  #open = 0;
  #isOpening = false;
  #hasConnected = false;
  #closed = false;

  constructor(options: OpenConnectionsOptions) {
    const { size, hasUrgentCalls = false } = options;
    this.#options = options;
    this.#maxOrdinary = hasUrgentCalls && size > 1 ? size - 1 : size;
  }

  get state(): StoreConnections {
    const { size } = this.#options;
    return { most: size, open: this.#open, free: this.#free.length, waiting: this.#waiting.length };
  }

  take(isUrgent = false): Promise<Connection> {
    if (this.#closed) return Promise.reject(storeClosed());
    return new Promise((resolve, reject) => {
      const waiting = { isUrgent, resolve, reject };
      if (isUrgent) this.#waiting.unshift(waiting);
      else this.#waiting.push(waiting);
      this.#serve();
    });
  }

  give(client: Connection, isLost: boolean): void {
    this.#ordinary.delete(client);
    if (isLost || this.#closed) {
      this.#open -= 1;
      client.removeAllListeners('error');
      client.on('error', () => {});
      if (isLost) client.destroy();
      else void client.end().catch(() => {});
    } else {
      this.#free.push(client);
    }
    this.#serve();
  }

  dropFree(): void {
    for (const free of this.#free.splice(0)) this.give(free, true);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#refuse(storeClosed());
    await Promise.all(this.#free.splice(0).map((client) => client.end().catch(() => {})));
  }

  #serve(): void {
    while (this.#mayServe) {
      const free = this.#free.pop();
      if (free === undefined) return void this.#openMore();
      const { isUrgent, resolve } = this.#waiting.shift() as Waiting;
      if (!isUrgent) this.#ordinary.add(free);
      resolve(free);
    }
  }

  get #mayServe(): boolean {
    const [next] = this.#waiting;
    return next !== undefined && (next.isUrgent || this.#ordinary.size < this.#maxOrdinary);
  }

  /** One at a time, as long as a call waits, so that a database that comes back is not overloaded. */
  async #openMore(): Promise<void> {
    if (this.#isOpening || this.#closed) return;
    if (!this.#mayServe || this.#open >= this.#options.size) return;
    this.#isOpening = true;
    this.#open += 1;
    try {
      const client = await this.#options.connect();
      client.on('error', () => this.#dropIdle(client));
      this.#isOpening = false;
      this.#hasConnected = true;
      this.give(client, false);
    } catch (error) {
      this.#isOpening = false;
      this.#open -= 1;
      // While other connections are open, the waiting calls get the next one that is free.
      if (this.#open === 0) this.#refuse(isPassing(error) ? error : this.#refusal(error));
    }
  }

  /** If the database has accepted this process before, the settings of this process are right. Any refusal is then `UNAVAILABLE`. */
  #refusal(error: unknown): ParleyError {
    const refusal = storeError(error, this.#options.name);
    if (!this.#hasConnected || refusal.code === 'UNAVAILABLE') return refusal;
    return new ParleyError('UNAVAILABLE', refusal.message, {
      ...{ hint: refusal.hint, retryAfter: 1, cause: error },
    });
  }

  #refuse(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  /** A connection that fails while it is idle. */
  #dropIdle(client: Connection): void {
    const at = this.#free.indexOf(client);
    if (at < 0) return;
    this.#free.splice(at, 1);
    this.#open -= 1;
  }
}
