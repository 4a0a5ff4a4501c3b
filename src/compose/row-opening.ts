// Opens a store for reading and writing all its rows, for copies and backups.
import type { StoreAddress } from '../config/store-address.ts';
import { lockWaitMsWithin } from '../store/sqlite/lock-wait.ts';
import { openSqliteRows } from '../store/sqlite/open.ts';
import type { StoreRows } from '../store/store-rows.ts';
import type { Dependencies } from './dependencies.ts';
import { sqliteDriver } from './sqlite-driver.ts';
import { turnOwners } from './turn-owners.ts';

interface RowOptions {
  /** The time limit of the caller in seconds. It limits the wait for a lock of SQLite. Null for the default wait. */
  readonly timeout: number | null;
  /** True to refuse a store with an older schema. */
  readonly refusesOlder?: boolean;
  /** The name of the file of a store in SQLite, if it is not the usual one. */
  readonly filename?: string;
}

/** `address` is null for the store in SQLite in `directory`. */
export async function openRows(
  { address, directory }: { readonly address: StoreAddress | null; readonly directory: string },
  dependencies: Dependencies,
  { timeout, ...options }: RowOptions,
): Promise<StoreRows> {
  if (address === null) {
    const { now, sinceBoot, random, processes } = dependencies;
    const driver = await sqliteDriver(dependencies);
    const { stateOf } = turnOwners(processes);
    const lockWaitMs = lockWaitMsWithin(timeout);
    return openSqliteRows({ directory, driver, now, sinceBoot, random, stateOf, lockWaitMs, ...options });
  }
  const { openRowsOfPostgres } = await import('./postgres-choice.ts');
  return openRowsOfPostgres(address, dependencies, options.refusesOlder ?? false);
}
