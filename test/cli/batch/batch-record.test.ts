// The record that names the batch of an output file.
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { BatchRecords } from '../../../src/cli/batch/batch-record.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const directory = temporaryDirectory(afterAll);
const place = join(directory, 'chat-batches');
const records = new BatchRecords(directory, () => Date.now());

test('a record names the batch of a file until another batch uses the file, and is private', () => {
  expect(records.find('1-2')).toBe(null);
  records.store('1-2', 'first');
  records.store('1-3', 'other');
  expect([records.find('1-2'), records.find('1-3')]).toEqual(['first', 'other']);
  records.store('1-2', 'second');
  expect(records.find('1-2')).toBe('second');
  expect(statSync(place).mode & 0o777).toBe(0o700);
  expect(statSync(join(place, '1-2')).mode & 0o777).toBe(0o600);
});

test('after a day a record is ignored and removed, and other files stay', () => {
  writeFileSync(join(place, 'notes'), 'mine');
  const old = Date.now() / 1000 - 25 * 60 * 60;
  for (const name of ['1-2', 'notes']) utimesSync(join(place, name), old, old);
  expect([records.find('1-2'), records.find('1-3')]).toEqual([null, 'other']);
  records.store('1-4', 'new');
  expect(readdirSync(place).toSorted()).toEqual(['1-3', '1-4', 'notes']);
});
