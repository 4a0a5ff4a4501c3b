// Reads a SQLite file without the store, when the store is closed; and a process that holds its write lock.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { driver } from './driver.ts';
import { rawNodeDatabase } from './raw-node-database.ts';

/** A database in the library that the stores of this process use, because two libraries must not open one file. */
export const RawDatabase = (
  driver.name === 'better-sqlite3' ? Database : await rawNodeDatabase()
) as typeof Database;

/** Runs a function over a file that no store has open. */
export function lookInto<T>(path: string, look: (database: Database.Database) => T): T {
  const database = new RawDatabase(path);
  try {
    return look(database);
  } finally {
    database.close();
  }
}

const lockScript = `
  const Database = require('better-sqlite3');
  const database = new Database(process.argv[1]);
  database.exec('BEGIN IMMEDIATE');
  process.stdout.write('locked');
  setTimeout(() => { database.exec('ROLLBACK'); database.close(); }, Number(process.argv[2]));
`;

/** Resolves when another process has the write lock, which it holds for this time; `ended` resolves when it has released it. */
export async function lockElsewhere(
  path: string,
  holdMs: number,
): Promise<{ readonly ended: Promise<unknown> }> {
  const holder = spawn(process.execPath, ['-e', lockScript, path, String(holdMs)], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(holder, 'exit');
  await once(holder.stdout, 'data');
  return { ended };
}
