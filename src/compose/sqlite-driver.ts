// Chooses the SQLite library of this process by the version of Node, or by an environment variable.
import type { SqliteDriver } from '../store/sqlite/driver.ts';
import { chooseDriver } from '../store/sqlite/driver-choice.ts';
import type { Dependencies } from './dependencies.ts';

export type DriverFacts = Pick<Dependencies, 'versions' | 'env'>;

export function sqliteDriver({ versions, env }: DriverFacts): Promise<SqliteDriver> {
  return chooseDriver(versions, env['PARLEY_SQLITE_DRIVER']);
}
