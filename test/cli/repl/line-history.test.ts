// The file of typed lines: shared by processes, bounded, private, and never the cause of a failure.
import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { LineHistory } from '../../../src/cli/repl/line-history.ts';
import { locks } from '../../support/locks.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let dataDirectory = '';
beforeEach(() => {
  dataDirectory = temporaryDirectory();
});

function open(name = 'local'): LineHistory {
  return new LineHistory({ dataDirectory, name, locks });
}

test('keeps lines in order, each once, at its last place', async () => {
  const history = open();
  for (const line of ['a', 'b', 'b', 'a', ' ', 'two\nlines']) await history.add(line);
  expect(history.lines).toEqual(['b', 'a', 'two\nlines']);
  expect(open().lines).toEqual(history.lines);
  expect(open('other').lines).toEqual([]);
});

test('a line of an earlier version, which knew no mentions, names no file', async () => {
  await open().add('a');
  writeFileSync(open().path, '\n"see @a.ts"\n"me@a.ts"\n"/title @a"', { flag: 'a' });
  await open().add('typed @b.ts');
  const lines = ['a', '"""\nsee @a.ts\n"""', 'me@a.ts', '/title @a', 'typed @b.ts'];
  expect(open().lines).toEqual(lines);
  expect(
    readFileSync(open().path, 'utf8')
      .split('\n')
      .slice(1)
      .map((json) => JSON.parse(json)),
  ).toEqual(['a', 'see @a.ts', 'me@a.ts', '/title @a', 'typed @b.ts']);
});

test('is private', async () => {
  await open().add('a');
  expect(statSync(join(dataDirectory, 'history')).mode & 0o777).toBe(0o700);
  expect(statSync(open().path).mode & 0o777).toBe(0o600);
});

test('skips damaged lines, and loses no later line', async () => {
  await open().add('a');
  writeFileSync(open().path, '\n"torn', { flag: 'a' });
  await open().add('b');
  writeFileSync(open().path, '\n{"not":"a line"}\n17', { flag: 'a' });
  expect(open().lines).toEqual(['a', 'b']);
});

test('holds a thousand lines, also where two processes write', async () => {
  const stored = Array.from({ length: 1499 }, (_, index) => `\n${JSON.stringify(`old ${index}`)}`);
  await open().add('first');
  writeFileSync(open().path, stored.join(''));
  const one = open();
  const other = open();
  expect(one.lines).toHaveLength(1000);
  expect(other.lines.at(-1)).toBe('old 1498');
  await Promise.all([one.add('of one'), other.add('of the other')]);
  await one.add('of one again');
  const lines = readFileSync(one.path, 'utf8').split('\n').filter(Boolean);
  expect(lines.length).toBeLessThanOrEqual(1002);
  expect(lines.slice(-3).toSorted()).toEqual(['"of one again"', '"of one"', '"of the other"']);
  expect(readdirSync(join(dataDirectory, 'history'))).toEqual(['local.jsonl', 'local.lock']);
});

test('of a file of any length is the newest thousand lines, and the next line shortens the file to them', async () => {
  await open().add('first');
  const lines = Array.from(
    { length: 100_000 },
    (_, index) => `\n${JSON.stringify(`line ${index % 60_000}`)}`,
  );
  writeFileSync(open().path, lines.join(''));
  const history = open();
  expect(history.lines).toEqual(Array.from({ length: 1000 }, (_, index) => `line ${39_000 + index}`));
  await history.add('last');
  const newest = readFileSync(history.path, 'utf8').split('\n').filter(Boolean);
  expect([newest.length, newest[0], newest.at(-1)]).toEqual([1000, '"line 39001"', '"last"']);
});

test('remembers a very long line without storing it', async () => {
  const history = open();
  await history.add('x'.repeat(100_000));
  await history.add('short');
  expect(history.lines).toHaveLength(2);
  expect(open().lines).toEqual(['short']);
});

test('that cannot be written says so, and still remembers lines', async () => {
  writeFileSync(join(dataDirectory, 'history'), 'a file where the directory should be');
  const history = open();
  await expect(history.add('a')).rejects.toThrow();
  expect(history.lines).toEqual(['a']);
});

test('of a very large file is its newest part, and the next line shortens the file to it', async () => {
  const file = open().path;
  await open().add('first');
  const size = 3 * 2 ** 30;
  // A hole at the beginning, so that the file takes no space.
  truncateSync(file, size);
  appendFileSync(file, '\n"of the newest part"\n"the last"');
  const before = process.memoryUsage().arrayBuffers;
  const history = open();
  expect(history.lines).toEqual(['of the newest part', 'the last']);
  // The read chunks may not be collected yet.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(128 * 2 ** 20);
  await history.add('new');
  expect(readFileSync(file, 'utf8')).toBe('\n"of the newest part"\n"the last"\n"new"');
});
