// The servers that share one database. Each renews its row by a heartbeat, and holds its turns until the time in that row. All times are
// those of the database's clock.
import { setTimeout as delay } from 'node:timers/promises';
import type { ModeSet } from '../mode-store.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { modesUnless } from './modes.ts';
import { statement } from './statement.ts';

export interface ServerIdentity {
  /** The owner of the turns that this server begins. It differs at each start. */
  readonly owner: string;
  readonly beatMs?: number;
  /** How long a server without a beat holds its turns. */
  readonly leaseMs?: number;
}

const defaultBeatMs = 1500;
const defaultLeaseMs = 5000;
/** How long (ms) a stopping server waits for a database that does not answer. */
const leavingMs = 1000;

/** SQL: the end of a lease that begins now. `ms` is SQL for its length. */
export const leaseEnd = (ms: string) => `clock_timestamp() + ${ms} * interval '1 millisecond'`;
// A row whose `until` has passed shows an outage of this server or of the database. $3: the version of the modes that the server knows, or
// null.
const beat = statement(`
  WITH renewed AS (
    INSERT INTO parley.servers AS server (owner, until, judges_from) VALUES ($1, ${leaseEnd('$2::integer')}, ${leaseEnd('$2::integer')})
    ON CONFLICT (owner) DO UPDATE SET until = excluded.until,
      judges_from = CASE WHEN server.until < clock_timestamp() THEN excluded.judges_from ELSE server.judges_from END
  )
  SELECT 1 + count(*) AS servers, ${modesUnless('$3')} AS modes
  FROM parley.servers AS other WHERE other.owner <> $1 AND other.until > clock_timestamp()`);
const leave = statement(`UPDATE parley.servers SET until = '-infinity' WHERE owner = $1`);
// Ten minutes are longer than any lease of a turn. After them `turn_until` itself shows that the turn is over.
const sweep = statement(`DELETE FROM parley.servers WHERE until < clock_timestamp() - interval '10 minutes'`);

/**
 * The end of the lease of the open turn in `parley.sessions AS session`: that of the server which owns it, or the turn's own where the
 * owner is no server. `judge` is SQL for the owner of the server that asks. Before its `judges_from`, and until its first heartbeat after an
 * outage, it counts no lease of another server as over, except that of a server that has left.
 */
export const leaseUntil = (judge = 'NULL::text') => `
  coalesce((
    SELECT CASE WHEN isfinite(server.until) THEN greatest(server.until, (
      SELECT CASE WHEN judge.until < clock_timestamp() THEN 'infinity' ELSE judge.judges_from END
      FROM parley.servers AS judge WHERE judge.owner = ${judge}
    )) ELSE server.until END
    FROM parley.servers AS server WHERE server.owner = session.turn_owner
  ), session.turn_until)`;
/** SQL for `parley.sessions AS session`: true if a turn runs in it. */
export const turnRuns = `(session.turn_owner IS NOT NULL AND ${leaseUntil()} > clock_timestamp())`;
/** The opposite of {@link turnRuns}, as `judge` sees it. */
export const noTurnRunsFor = (judge?: string) =>
  `(session.turn_owner IS NULL OR ${leaseUntil(judge)} <= clock_timestamp())`;
export const noTurnRuns = noTurnRunsFor();

export class ServerBeat {
  readonly owner: string;
  readonly #connections: ConnectionPool;
  readonly #beatMs: number;
  readonly #leaseMs: number;
  /** Called for each beat that succeeded. */
  onBeat: () => void = () => {};
  #timer: NodeJS.Timeout | null = null;
  #beating: Promise<void> = Promise.resolve();
  #servers = 1;
  #modesVersion: string;
  #followModes: ((modes: ModeSet) => void) | null = null;

  /** `modesVersion`: the version of the modes that the server has read. */
  constructor(connections: ConnectionPool, modesVersion: string, { owner, beatMs, leaseMs }: ServerIdentity) {
    this.owner = owner;
    this.#connections = connections;
    this.#beatMs = beatMs ?? defaultBeatMs;
    this.#leaseMs = leaseMs ?? defaultLeaseMs;
    this.#modesVersion = modesVersion;
  }

  /** The number of live servers at the last beat, this one included. */
  get servers(): number {
    return this.#servers;
  }

  /** The listener gets the modes of the database after each change, with the next beat. A failed beat changes no modes. */
  followModes(listener: (modes: ModeSet) => void): void {
    this.#followModes = listener;
  }

  /** Rejects if the first beat fails. After a later failure the next beat tries again. */
  async start(): Promise<void> {
    await this.#beat();
    await this.#connections.ask(sweep);
    this.#wait();
  }

  /** Stops the beats and gives up this server's turns, so that other servers may take them at once. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    const left = this.#beating.then(() => this.#connections.askUrgently(leave, [this.owner]));
    await Promise.race([left.catch(() => {}), delay(leavingMs, undefined, { ref: false })]);
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      this.#beating = this.#beat()
        .then(() => this.onBeat())
        .catch(() => {})
        .finally(() => {
          if (this.#timer !== null) this.#wait();
        });
    }, this.#beatMs);
    this.#timer.unref();
  }

  async #beat(): Promise<void> {
    // Without a listener the beat asks for no modes.
    const known = this.#followModes === null ? null : this.#modesVersion;
    const [row] = await this.#connections.askUrgently<{ servers: number; modes: ModeSet | null }>(beat, [
      ...[this.owner, this.#leaseMs, known],
    ]);
    this.#servers = row?.servers ?? 1;
    if (row?.modes == null) return;
    this.#modesVersion = row.modes.version;
    this.#followModes?.(row.modes);
  }
}
