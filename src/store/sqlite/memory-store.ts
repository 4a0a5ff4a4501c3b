// A store in the memory of this process: the same tables and rules as in a file. Its content is lost when it is closed.
import type { SessionStore } from '../session-store.ts';
import { Connection } from './connection.ts';
import { defaultLockWaitMs } from './lock-wait.ts';
import { migrate } from './migrations.ts';
import type { SqliteStoreOptions } from './open.ts';
import { SqliteStore } from './sqlite-store.ts';

type MemoryStoreOptions = Pick<SqliteStoreOptions, 'driver' | 'now' | 'sinceBoot' | 'rules' | 'random'>;

export async function openMemoryStore(options: MemoryStoreOptions): Promise<SessionStore> {
  const { driver, now, sinceBoot, rules, random } = options;
  const connection = new Connection(driver, driver.openInMemory(), ':memory:');
  const wait = { waitMs: defaultLockWaitMs, random };
  // A long sort would go to a temporary file. A second connection would open another, empty database.
  connection.pragma('temp_store = MEMORY');
  connection.takeExclusive();
  await migrate(connection, { refusesOlder: false }, wait);
  const stateOf = () => 'unknown' as const;
  return new SqliteStore(connection, { wait, filesystem: 'memory', now, sinceBoot, rules, stateOf });
}
