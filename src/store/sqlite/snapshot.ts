// A further connection, which sees one state of the store while others write.
import type { Connection } from './connection.ts';
import { type LockWait, whenUnlocked } from './lock-wait.ts';

const cacheKibibytes = 1024;

/** The state is taken no earlier than this call. The caller closes the connection; the log of the store cannot shrink before that. */
export async function openSnapshot(original: Connection, wait: LockWait): Promise<Connection> {
  const connection = original.openAnother();
  try {
    connection.pragma(`cache_size = -${cacheKibibytes}`);
    connection.run('BEGIN');
    // The first read takes the snapshot.
    await whenUnlocked(() => connection.get('SELECT id FROM projects LIMIT 1'), wait);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
