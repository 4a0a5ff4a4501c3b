// A journal that somebody edited, copied or damaged is neither resumed nor undone, and is not changed.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { makeSessions } from '../support/stored.ts';

const place = new PlaceInProcess();
let ids: readonly string[] = [];
let batch = '';
let path = '';
let whole = Buffer.alloc(0);
beforeAll(async () => {
  await place.output(['models']);
  ids = await makeSessions(place, 4);
  const { err } = await place.parley(['sessions', 'delete', ...ids, '--yes']);
  batch = /--batch (\S+)/.exec(err)?.[1] ?? '';
  path = join(place.dataDirectory, 'batches', `${batch}.journal`);
  whole = readFileSync(path);
  await place.output(['sessions', 'restore', '--batch', batch]);
  // As a journal that was cut before its first result.
  whole = whole.subarray(0, whole.indexOf('sent '));
});
afterAll(() => place.remove());

const line = (at: number) => `${ids[at]}\n`;
const edited = (change: (text: string) => string) => () => Buffer.from(change(whole.toString()));

test.each([
  ['an id was changed', edited((text) => text.replace(line(0), 'ses_other\n'))],
  ['an id was taken out', edited((text) => text.replace(line(1), ''))],
  ['an id was added', edited((text) => `ses_other\n${text}`)],
  ['two ids changed places', edited((text) => text.replace(line(0) + line(1), line(1) + line(0)))],
  ['an id is said to be a repetition', edited((text) => text.replace(line(0), ` ${line(0)}`))],
  ['the count is larger', edited((text) => text.replace('"ids":4', '"ids":400000000'))],
  ['the count is larger than any', edited((text) => text.replace('"ids":4', '"ids":9007199254740991'))],
  ['the count is negative', edited((text) => text.replace('"ids":4', '"ids":-4'))],
  ['its lines end in CRLF', edited((text) => text.replaceAll('\n', '\r\n'))],
  ['its seal is missing', edited((text) => text.replace(/^\t.*\n/m, ''))],
  ['it is of another version', edited((text) => text.replace('"version":1', '"version":2'))],
  ['it is empty', () => Buffer.alloc(0)],
  ['it is something else, without an end of line', () => Buffer.from([0xff, 0x00, 0x0a, 0xfe])],
])('a batch in whose journal %s is refused', async (_fact, content) => {
  const bytes = content();
  writeFileSync(path, bytes);
  for (const words of [
    ['delete', '--resume', batch],
    ['restore', '--batch', batch],
  ]) {
    const outcome = await place.parley(['sessions', ...words]);
    expectFailure(outcome, { status: 2, code: 'USAGE' });
    expect(outcome.err).toContain('was not changed, and nothing was done');
  }
  expect(readFileSync(path).equals(bytes)).toBe(true);
  expect((await place.output(['sessions', 'list', '--ids'])).split('\n').length).toBe(5);
});

test('a copy of a journal under another name is not a batch; the original still is', async () => {
  writeFileSync(path, whole);
  copyFileSync(path, join(place.dataDirectory, 'batches', 'copy.journal'));
  expectFailure(await place.parley(['sessions', 'delete', '--resume', 'copy']), { status: 2, code: 'USAGE' });
  expect(await place.output(['sessions', 'delete', '--resume', batch])).toBe(
    ids.map((id) => `deleted ${id}\n`).join(''),
  );
});
