// A full disk: no lost write is acknowledged, and earlier data is whole. The disk is a small one for these tests
// if this process may mount it. Otherwise SQLite may use no more pages than the file has.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { SessionStore } from '../../../src/store/session-store.ts';
import { Connection } from '../../../src/store/sqlite/connection.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { driver } from '../../support/driver.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { firstPage, newProject, newSession, once, turnReply, turnStart } from '../store-samples.ts';

const text = 'All work and no play. '.repeat(3000);

function mountSmallDisk(): string | null {
  const directory = join(temporaryDirectory(), 'disk');
  mkdirSync(directory);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', directory], { stdio: 'ignore' });
  } catch {
    return null;
  }
  onTestFinished(() => {
    execFileSync('umount', ['-l', directory]);
  });
  return directory;
}

/** Chats until the store is full. Resolves with the acknowledged messages. */
async function chatUntilFull(store: SessionStore, project: string, session_id: string) {
  const acknowledged: string[] = [];
  for (;;) {
    const start = turnStart({ session_id, content: text, deadOwner: 'owner-1' });
    try {
      const begun = await store.beginTurn(project, start);
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      acknowledged.push(start.message_id);
      const reply = turnReply({ content: text });
      await store.endTurn(project, begun.turn, reply);
      acknowledged.push(reply.message_id);
    } catch (error) {
      return { acknowledged, error };
    }
  }
}

async function expectWhole(
  store: SessionStore,
  project: string,
  session_id: string,
  acknowledged: readonly string[],
) {
  const messages = await store.listMessages(project, session_id, { ...firstPage, limit: 10_000 });
  expect(messages?.items.map((message) => message.message_id)).toEqual(acknowledged);
  expect(messages?.items.every((message) => message.content === text)).toBe(true);
  expect((await store.inspect()).integrity).toBe('ok');
}

async function fillSmallDisk(disk: string): Promise<void> {
  const ballast = join(disk, 'ballast');
  writeFileSync(ballast, Buffer.alloc(400_000));
  const directory = join(disk, 'data');
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  const session_id = await newSession(store, project);
  const { acknowledged, error } = await chatUntilFull(store, project, session_id);
  expect(error).toMatchObject({ code: 'STORAGE_FULL', message: expect.stringContaining(directory) });
  expect(acknowledged.length).toBeGreaterThan(2);
  await expectWhole(store, project, session_id, acknowledged);
  rmSync(ballast);
  await store.beginTurn(project, turnStart());
  await store.close();
  const again = await openSqliteStore(storeOptions(directory));
  await expectWhole(again.store, project, session_id, acknowledged);
  await again.store.close();

  fill(ballast);
  const opening = openSqliteStore(storeOptions(join(disk, 'another')));
  await expect(opening).rejects.toMatchObject({ code: 'STORAGE_FULL' });
}

function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch {
    closeSync(file);
  }
}

/** A new store, and a function that limits its pages. */
async function limitedStore(directory: string) {
  await (await openSqliteStore(storeOptions(directory))).store.close();
  const path = join(directory, 'parley.db');
  const database = driver.open(path);
  const limitPages = (pages: number) => database.pragma(`max_page_count = ${pages}`, { simple: true });
  const wait = { waitMs: 0, random: Math.random };
  const stateOf = () => 'unknown' as const;
  const options = { ...storeOptions(directory), wait, filesystem: 'any', stateOf };
  return { store: new SqliteStore(new Connection(driver, database, path), options), limitPages };
}

async function fillPages(): Promise<void> {
  const { store, limitPages } = await limitedStore(temporaryDirectory());
  limitPages(300);
  const project = await newProject(store);
  const session_id = await newSession(store, project);
  const { acknowledged, error } = await chatUntilFull(store, project, session_id);
  expect(error).toMatchObject({ code: 'STORAGE_FULL' });
  expect(acknowledged.length).toBeGreaterThan(2);
  await expectWhole(store, project, session_id, acknowledged);
  await store.close();
}

it('fails the write that finds no room, and keeps acknowledged data whole', async () => {
  const disk = mountSmallDisk();
  await (disk === null ? fillPages() : fillSmallDisk(disk));
});

it('fails the write that finds no page left, and keeps acknowledged data whole', fillPages);

it('begins the turn again at once in the process that could not store its end, and in no other one', async () => {
  const directory = temporaryDirectory();
  const { store, limitPages } = await limitedStore(directory);
  const { store: other } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  const idempotencyKey = once('k');
  const start = turnStart({ idempotencyKey });
  const begun = await store.beginTurn(project, start);
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  const { session_id } = begun.turn;
  limitPages(1);
  const end = store.endTurn(project, begun.turn, turnReply({ content: text.repeat(9) }));
  await expect(end).rejects.toMatchObject({ code: 'STORAGE_FULL' });
  limitPages(100_000);

  expect(await other.beginTurn(project, turnStart({ session_id }))).toMatchObject({ kind: 'busy' });
  const again = await store.beginTurn(project, turnStart({ idempotencyKey }));
  expect(again).toMatchObject({ kind: 'begun', turn: { message_id: start.message_id } });
  expect(await store.beginTurn(project, turnStart({ session_id }))).toMatchObject({ kind: 'busy' });
  await other.close();
  await store.close();
});
