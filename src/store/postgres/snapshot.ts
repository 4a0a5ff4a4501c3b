// Reads that all see the database as it is at one moment, for as long as the work takes.
import type { StoreRowReads } from '../store-rows.ts';
import type { Ask, ConnectionPool } from './connection-pool.ts';
import { storeError } from './postgres-errors.ts';
import { statement } from './statement.ts';

const begin = statement('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
/** Between two reads, the caller may write to a slow place. */
const noIdleTimeout = statement('SET LOCAL idle_in_transaction_session_timeout = 0');
const end = statement('ROLLBACK');

/** `name`: the store, for errors of the database. Errors of the work itself stay as they are. */
export async function atOneMoment<T>(
  connections: Pick<ConnectionPool, 'alone'>,
  name: string,
  readsOf: (ask: Ask) => StoreRowReads,
  work: (rows: StoreRowReads) => Promise<T>,
): Promise<T> {
  let isWorking = false;
  let failure: unknown;
  try {
    return await connections.alone(async (ask) => {
      const noting: Ask = async (one, values) => {
        try {
          return await ask(one, values);
        } catch (error) {
          failure = error;
          throw error;
        }
      };
      await ask(begin);
      try {
        await ask(noIdleTimeout);
        isWorking = true;
        return await work(readsOf(noting));
      } finally {
        await ask(end).catch(() => {});
      }
    });
  } catch (error) {
    throw isWorking && error !== failure ? error : storeError(error, name);
  }
}
