// A thread that reads an export gives what reading it here gives, item by item, and ends with its reader.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { foreignItems } from '../../../src/cli/imports/foreign-items.ts';
import type { ImportItem } from '../../../src/cli/imports/import-item.ts';
import { chatgpt } from '../../../src/cli/imports/sources/chatgpt.ts';
import { threadedItems } from '../../../src/cli/imports/threaded-items.ts';
import { ParleyError } from '../../../src/service/errors.ts';
import { builtFile } from '../../support/built-file.ts';
import { importFixtures } from '../../support/import-fixtures.ts';

const thread = builtFile('reading-thread');
const asked = { path: 'a.json', modified: null, isNamed: true, messagesOnly: false, now: 1_767_225_600_000 };
const unneeded = () => expect.fail('No database is read.');
const never = new AbortController().signal;

/** The fixture 40 times, with what is no conversation and no JSON in between: several messages of the thread. */
function exportOf(): Buffer {
  const fixture = importFixtures.find(({ source }) => source === 'chatgpt') ?? expect.fail('no fixture');
  const inner = readFileSync(fixture.file, 'utf8').trim().slice(1, -1);
  return Buffer.from(`[${Array.from({ length: 40 }, () => `${inner},{"id":1},{"id":}`).join(',')}]`);
}

/** In pieces that cut strings and characters. `failure` comes after them. */
async function* piecesOf(bytes: Buffer, failure: Error | null = null): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += 1001) yield bytes.subarray(at, at + 1001);
  if (failure !== null) throw failure;
}

/** The items, and the failure that ended them. */
async function toldBy(items: AsyncIterable<ImportItem>) {
  const told: ImportItem[] = [];
  try {
    for await (const item of items) told.push(item);
  } catch (error) {
    return { told, error };
  }
  return { told, error: null };
}

function readHere(chunks: AsyncIterable<Uint8Array>, before: number): AsyncIterable<ImportItem> {
  const counter = { bytes: before };
  async function* counted() {
    for await (const chunk of chunks) {
      counter.bytes += chunk.length;
      yield chunk;
    }
  }
  const file = { path: asked.path, modified: null, bytes: 0, local: null, open: counted };
  const options = { ...asked, signal: never, temporaryDirectory: unneeded, openDatabase: unneeded };
  return foreignItems(chatgpt, file, asked.isNamed, counter, options);
}

function readThere(chunks: AsyncIterable<Uint8Array>, before: number, signal = never) {
  return threadedItems({ ...asked, source: 'chatgpt', before }, chunks, signal, thread);
}

test('the items are the same, with failures, places and the bytes that were read', async () => {
  const bytes = exportOf();
  const here = await toldBy(readHere(piecesOf(bytes), 70));
  const there = await toldBy(readThere(piecesOf(bytes), 70));
  expect(there).toEqual(here);
  expect(here.told.length).toBeGreaterThan(200);
  expect(here.told.at(-1)?.end).toBe(70 + bytes.length);
});

test('a file that cannot be read further gives what stands before, and then its own failure', async () => {
  const failure = new ParleyError('STORE_DAMAGED', 'The disk is gone.');
  const half = exportOf().subarray(0, 100_000);
  const here = await toldBy(readHere(piecesOf(half, failure), 0));
  const there = await toldBy(readThere(piecesOf(half, failure), 0));
  expect(there.told).toEqual(here.told);
  expect([here.error, there.error]).toEqual([failure, failure]);
});

test('a file without a conversation is refused as it is here', async () => {
  const here = await toldBy(readHere(piecesOf(Buffer.from('[]')), 0));
  const there = await toldBy(readThere(piecesOf(Buffer.from('[]')), 0));
  expect(there.error).toMatchObject({ code: 'USAGE', message: 'The file a.json holds no conversation.' });
  expect((there.error as ParleyError).hint).toBe((here.error as ParleyError).hint);
});

test('a signal ends it with its reason, also while nothing arrives', async () => {
  const stop = new AbortController();
  async function* stuck(): AsyncGenerator<Uint8Array, void> {
    yield Buffer.from('[');
    setImmediate(() => stop.abort(new Error('enough')));
    await new Promise(() => {});
  }
  expect(await toldBy(readThere(stuck(), 0, stop.signal))).toEqual({ told: [], error: new Error('enough') });
});

test('a reader that wants no more ends it', async () => {
  for await (const item of readThere(piecesOf(exportOf()), 0)) {
    expect(item.place).toBe('item 1');
    break;
  }
});
