// What the connections of a store need to know (connection-pool.ts).
import type { Connection } from './connect.ts';

export interface PoolOptions {
  /** Opens and checks one connection; rejects with a ParleyError for a database that must not be used. */
  readonly connect: () => Promise<Connection>;
  /** For errors: the store without user and password. */
  readonly name: string;
  readonly schema: string;
  readonly size: number;
  /** True for a process that calls `askUrgently`. */
  readonly hasUrgentCalls?: boolean;
  /** How long (ms) a call is repeated while the database does not answer. */
  readonly patienceMs: number;
  /** How long a connection may be silent on a statement, until the statement is sent again over another, ms. */
  readonly silenceMs?: number | undefined;
  readonly prepare: boolean;
  /** A random number from 0 to 1, which varies the pauses between attempts. */
  readonly random: () => number;
  /** Fires when the process is to end. Calls then wait only a moment longer, and reject with its reason. */
  readonly stopSignal?: AbortSignal | undefined;
}
