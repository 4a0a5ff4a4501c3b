// The record that names the batch of an output file.
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { BatchRecords } from '../../../src/cli/batch/batch-record.ts';
import { processIdentity } from '../../../src/system/process-identity.ts';
import { processTable } from '../../support/process-table.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const directory = temporaryDirectory(afterAll);
const place = join(directory, 'chat-batches');
const own = processIdentity(processTable);
const records = new BatchRecords(directory, () => Date.now(), own);
const batchOf = (file: string) => records.find(file)?.batch ?? null;

test('a record names the batch of a file until another batch uses the file, and is private', () => {
  expect(batchOf('1-2')).toBe(null);
  records.store('1-2', 'first');
  records.store('1-3', 'other');
  expect([batchOf('1-2'), batchOf('1-3')]).toEqual(['first', 'other']);
  records.store('1-2', 'second');
  expect(batchOf('1-2')).toBe('second');
  expect(statSync(place).mode & 0o777).toBe(0o700);
  expect(statSync(join(place, '1-2')).mode & 0o777).toBe(0o600);
});

test('a file is in use while the process of its record runs, however long', () => {
  const [, ...rest] = own.name.split(' ');
  const other = (pid: number) => ({ ...own, name: processIdentity({ ...processTable, pid }).name });
  const store = (file: string, process: typeof own) =>
    new BatchRecords(directory, () => Date.now(), process).store(file, 'long');
  store('2-1', other(process.ppid));
  store('2-2', { ...own, name: `4194305 ${rest.join(' ')}` });
  store('2-3', own);
  const old = Date.now() / 1000 - 25 * 60 * 60;
  utimesSync(join(place, '2-1'), old, old);
  records.store('2-4', 'next');
  const states = ['2-1', '2-2', '2-3'].map((file) => records.find(file)?.isInUse);
  expect(states).toEqual([true, false, false]);
  records.end('2-1', 'long');
  expect(records.find('2-1')).toEqual({ batch: 'long', isInUse: false });
  for (const file of ['2-1', '2-2', '2-3', '2-4']) rmSync(join(place, file));
});

test('after a day a record is ignored and removed, and other files stay', () => {
  writeFileSync(join(place, 'notes'), 'mine');
  const old = Date.now() / 1000 - 25 * 60 * 60;
  for (const name of ['1-2', 'notes']) utimesSync(join(place, name), old, old);
  expect([batchOf('1-2'), batchOf('1-3')]).toEqual([null, 'other']);
  records.store('1-4', 'new');
  expect(readdirSync(place).toSorted()).toEqual(['1-3', '1-4', 'notes']);
});
