// Another program that holds the write lock of a store, in a process of its own, because SQLite's locks are between processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface StoreLock {
  /** Resolves when the lock is released. */
  readonly ended: Promise<unknown>;
  release(): Promise<unknown>;
}

const script = `
  const database = require('better-sqlite3')(process.argv[1]);
  database.exec('BEGIN IMMEDIATE');
  process.stdout.write('locked');
  setTimeout(() => process.exit(), Number(process.argv[2]));
`;

/** Resolves when the other program has the lock. It releases the lock after `holdMs` at the latest. */
export async function lockStore(path: string, holdMs = 60_000): Promise<StoreLock> {
  const holder = spawn(process.execPath, ['-e', script, path, String(holdMs)], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(holder, 'exit');
  await once(holder.stdout, 'data');
  return {
    ended,
    release() {
      holder.kill();
      return ended;
    },
  };
}
