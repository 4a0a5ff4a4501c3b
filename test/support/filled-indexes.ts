// Takes every message of a store into its search indexes, past the store: whether one is open on it or not.
import { join } from 'node:path';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { indexStep } from '../../src/store/sqlite/search-index.ts';
import { driver } from './driver.ts';

export function fillIndexes(directory: string): void {
  const path = join(directory, 'parley.db');
  const connection = Connection.open(driver, path);
  try {
    connection.run('BEGIN IMMEDIATE');
    while (indexStep(connection, { behind: 0 }) !== null);
    connection.run('COMMIT');
  } finally {
    connection.close();
  }
}
