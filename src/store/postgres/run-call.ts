// How the parts of the store run their calls: what fails becomes an error of the store.
import type { Ask, ConnectionPool } from './connection-pool.ts';

/** Runs a call of the store, and turns its errors into those of the store. */
export type RunCall = <T>(call: (ask: Ask) => Promise<T>) => Promise<T>;

/** Runs each call over these connections. */
export function runOver(connections: ConnectionPool): RunCall {
  return async (call) => {
    try {
      return await call(connections.ask);
    } catch (error) {
      throw connections.failureOf(error);
    }
  };
}
