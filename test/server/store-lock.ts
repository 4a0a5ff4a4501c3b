// Another program that holds the write lock of a store, in a process of its own, because SQLite's locks are between processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';

export interface StoreLock {
  release(): Promise<void>;
}

export async function lockStore(path: string): Promise<StoreLock> {
  const sqlite = createRequire(import.meta.url).resolve('better-sqlite3');
  const code = `
    const database = require(process.argv[1])(process.argv[2]);
    database.exec('BEGIN IMMEDIATE');
    console.log('locked');
    process.stdin.on('end', () => process.exit()).resume();`;
  const child = spawn(process.execPath, ['-e', code, sqlite, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    async release() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
