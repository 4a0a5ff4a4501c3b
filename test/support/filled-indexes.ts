// Indexes every message of a store directly, whether the store is open or not.
import { join } from 'node:path';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { indexStep } from '../../src/store/sqlite/search-index.ts';
import { driver } from './driver.ts';

export function fillIndexes(directory: string): void {
  const path = join(directory, 'parley.db');
  const connection = Connection.open(driver, path);
  try {
    connection.run('BEGIN IMMEDIATE');
    while (indexStep(connection, { after: 0 }) !== null);
    connection.run('COMMIT');
  } finally {
    connection.close();
  }
}
