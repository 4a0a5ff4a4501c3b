// The copy of another program's database contains what that program would read.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { ForeignDatabase } from '../../../src/cli/imports/foreign-database.ts';
import { filesAt } from '../../../src/cli/imports/source-files.ts';
import { driver } from '../../support/driver.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

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

test('a transaction that a crash has cut is rolled back in the copy', async () => {
  const directory = temporaryDirectory();
  const running = new Database(join(directory, 'running.db'));
  // Changed pages leave the cache before the commit.
  running.pragma('cache_size = 1');
  running.exec('CREATE TABLE notes (number, text); BEGIN');
  const add = running.prepare('INSERT INTO notes VALUES (?, ?)');
  for (let number = 0; number < 40; number += 1) add.run(number, 'old '.repeat(500));
  running.exec("COMMIT; BEGIN; UPDATE notes SET text = replace(text, 'old', 'new')");
  const crashed = join(directory, 'crashed.db');
  for (const suffix of ['', '-journal'])
    copyFileSync(join(directory, `running.db${suffix}`), `${crashed}${suffix}`);
  running.close();
  const files = () => ['', '-journal'].map((suffix) => readFileSync(`${crashed}${suffix}`));
  const before = files();

  const database = await opened(crashed, directory);
  expect(database.rows("SELECT count(*) AS cut FROM notes WHERE text LIKE 'new%'")).toEqual([{ cut: 0 }]);
  expect(files()).toEqual(before);
});

test('a database whose end is missing is refused', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'logs.db');
  new Database(path).exec("CREATE TABLE notes (text); INSERT INTO notes VALUES ('whole')").close();
  truncateSync(path, statSync(path).size - 10);
  await expect(opened(path, directory)).rejects.toThrow('its end is missing');
});

test('a database that its program writes to is copied as it is at one moment', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'busy.db');
  const writer = spawn(process.execPath, ['-e', writingProgram, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    writer.kill('SIGKILL');
  });
  await once(writer.stdout, 'data');
  for (let round = 0; round < 20; round += 1) {
    const database = await opened(path, directory);
    expect(database.rows('SELECT count(DISTINCT turn) AS turns FROM notes')).toEqual([{ turns: 1 }]);
    await delay(3);
  }
});

/** Sets all rows to the next number repeatedly, in one transaction each time, with a pause. */
const writingProgram = `
const database = new (require('better-sqlite3'))(process.argv[1]);
database.pragma('cache_size = 1');
database.exec('CREATE TABLE notes (turn, text); BEGIN');
for (let row = 0; row < 300; row += 1) database.prepare('INSERT INTO notes VALUES (0, ?)').run('x'.repeat(2000));
database.exec('COMMIT');
console.log('ready');
setInterval(() => database.exec('UPDATE notes SET turn = turn + 1'), 6);
`;
