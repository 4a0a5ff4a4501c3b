// A write of many steps in one transaction, on a connection of its own: between two steps, reads of this process are answered, and see
// nothing of it before its end. Other writes wait, here and in other processes, as they do for any transaction.
import { openDatabase } from './binding.ts';
import { Connection } from './connection.ts';
import type { LockWait } from './lock-wait.ts';
import { whenUnlocked } from './lock-wait.ts';
import { inTurns, type Steps } from './steps.ts';

export async function writeInSteps<T>(
  path: string,
  wait: LockWait,
  begin: (connection: Connection) => Steps<T>,
): Promise<T> {
  const connection = new Connection(openDatabase(path), path);
  try {
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = ON');
    await whenUnlocked(() => connection.run('BEGIN IMMEDIATE'), wait);
    const value = await inTurns(begin(connection));
    connection.run('COMMIT');
    return value;
  } finally {
    // Takes back what was not committed.
    connection.close();
  }
}
