// The copy of another program's database contains what that program would read.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { ForeignDatabase } from '../../../src/cli/imports/foreign-database.ts';
import { filesAt } from '../../../src/cli/imports/source-files.ts';
import { driver } from '../../support/driver.ts';
import { temporaryDirectory } from '../../support/test-store.ts';

async function opened(path: string, directory: string): Promise<ForeignDatabase> {
  const found = await filesAt(path).next();
  const file = !found.done && 'file' in found.value ? found.value.file : expect.fail('There is no file.');
  const database = await ForeignDatabase.open(file, {
    signal: new AbortController().signal,
    temporaryDirectory: () => directory,
    openDatabase: async (copy) => driver.open(copy),
  });
  onTestFinished(() => database.close());
  return database;
}

test('a database that is named by a link is read with its write-ahead log', async () => {
  const directory = temporaryDirectory();
  const real = join(directory, 'real');
  mkdirSync(real);
  const program = new Database(join(real, 'logs.db'));
  onTestFinished(() => {
    program.close();
  });
  program.pragma('journal_mode = WAL');
  program.exec("CREATE TABLE notes (text); INSERT INTO notes VALUES ('still in the log')");
  const link = join(directory, 'link.db');
  symlinkSync(join(real, 'logs.db'), link);
  const database = await opened(link, directory);
  expect(database.hasTable('notes')).toBe(true);
  expect(database.rows('SELECT text FROM notes')).toEqual([{ text: 'still in the log' }]);
  expect(readdirSync(real).sort()).toEqual(['logs.db', 'logs.db-shm', 'logs.db-wal']);
});

test('a pipe in the place of the write-ahead log is not waited for', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'logs.db');
  new Database(path).exec('CREATE TABLE notes (text)').close();
  execFileSync('mkfifo', [`${path}-wal`]);
  const database = await opened(path, directory);
  expect(database.hasTable('notes')).toBe(true);
});
