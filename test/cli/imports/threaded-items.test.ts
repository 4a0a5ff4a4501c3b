// The thread that reads an export gives the same items as a reader in this thread, and ends with its reader.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ImportItem } from '../../../src/cli/imports/import-item.ts';
import { readItems } from '../../../src/cli/imports/import-items.ts';
import { filesAt } from '../../../src/cli/imports/source-files.ts';
import { threadedItems } from '../../../src/cli/imports/threaded-items.ts';
import { builtFile } from '../../support/built-file.ts';
import { importFixtures } from '../../support/import-fixtures.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { zipArchive } from '../../support/zip-archive.ts';

const thread = builtFile('reading-thread');
const never = new AbortController().signal;
const request = { messagesOnly: false, now: 1_767_225_600_000 };

/** The fixture 40 times, with other JSON and invalid JSON in between: several messages of the thread. */
function exportOf(): Buffer {
  const fixture = importFixtures.find(({ source }) => source === 'chatgpt') ?? expect.fail('no fixture');
  const inner = readFileSync(fixture.file, 'utf8').trim().slice(1, -1);
  return Buffer.from(`[${Array.from({ length: 40 }, () => `${inner},{"id":1},{"id":}`).join(',')}]`);
}

function written(name: string, bytes: Uint8Array): string {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, bytes);
  return path;
}

/** The items, and the final failure. */
async function readAll(items: AsyncIterable<ImportItem>) {
  const all: ImportItem[] = [];
  try {
    for await (const item of items) all.push(item);
  } catch (error) {
    return { items: all, error };
  }
  return { items: all, error: null };
}

function readHere(path: string) {
  const unneeded = () => expect.fail('No database is read.');
  const options = {
    ...request,
    hasSeveral: false,
    from: 'chatgpt',
    signal: never,
    onSkip: () => {},
  } as const;
  return readItems(filesAt(path), { ...options, temporaryDirectory: unneeded, openDatabase: unneeded });
}

function readThere(path: string, { number = 0, isNamed = true, bytesBefore = 0, signal = never } = {}) {
  const task = { ...request, source: 'chatgpt', place: { path, number }, isNamed, bytesBefore } as const;
  return threadedItems(task, signal, thread);
}

test('the items are the same, with failures, places and the bytes that were read', async () => {
  const bytes = exportOf();
  const path = written('conversations.json', bytes);
  const here = await readAll(readHere(path));
  const there = await readAll(readThere(path, { bytesBefore: 70 }));
  expect(there.items).toEqual(here.items.map((item) => ({ ...item, end: item.end + 70 })));
  expect([there.error, here.error]).toEqual([null, null]);
  expect(here.items.length).toBeGreaterThan(200);
});

test('of an archive it reads the file with the given index, and reports a fault after the items before it', async () => {
  const bytes = exportOf();
  const zip = zipArchive([
    { name: 'empty.json', bytes: Buffer.from('[]') },
    { name: 'conversations.json', bytes },
  ]);
  const late = Math.floor(zip.length * 0.9);
  zip.fill(0xff, late, late + 8);
  const path = written('export.zip', zip);
  const here = await readAll(readHere(path));
  const there = await readAll(readThere(path, { number: 1, isNamed: false }));
  expect(there.items.length).toBeGreaterThan(20);
  expect(there.error).toMatchObject({ code: 'INVALID_REQUEST', hint: expect.stringContaining('unzip') });
  const failure = expect.objectContaining({ message: (there.error as Error).message });
  const expected = [
    ...there.items,
    { place: `${path}/conversations.json`, origin: null, found: { failure } },
  ];
  expect(here.items.map(({ end: _, ...item }) => item)).toEqual(
    expected.map((item) => ({ ...item, end: undefined })),
  );
});

test('a file without a conversation is refused as without a thread', async () => {
  const path = written('conversations.json', Buffer.from('[]'));
  const [here, there] = [await readAll(readHere(path)), await readAll(readThere(path))];
  expect(there.error).toMatchObject({
    code: 'USAGE',
    message: `The file ${path} contains no conversation.`,
    hint: 'Nothing was imported. The file was read as: ChatGPT export.',
  });
  expect(there).toEqual(here);
});

test('a signal ends the thread with its reason', async () => {
  const stop = new AbortController();
  const items = readThere(written('conversations.json', exportOf()), { signal: stop.signal });
  await items.next();
  stop.abort(new Error('enough'));
  expect((await readAll(items)).error).toEqual(new Error('enough'));
});

test('a reader that stops ends the thread', async () => {
  for await (const item of readThere(written('conversations.json', exportOf()))) {
    expect(item.place).toBe('item 1');
    break;
  }
});
