// The search indexes of the SQLite store are filled late. Whatever is written, replaced and erased in between, a search
// finds every stored message, and nothing else.
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SessionStore, Turn } from '../../../src/store/session-store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { fillIndexes } from '../../support/filled-indexes.ts';
import { olderStore } from '../../support/older-store.ts';
import { lookInto } from '../../support/raw-database.ts';
import { runs } from '../../support/runs.ts';
import { lockStore } from '../../support/store-lock.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import {
  indexingOf,
  newProject,
  once,
  searchFilter,
  snippets,
  turnReply,
  turnStart,
} from '../store-samples.ts';

const never = new AbortController().signal;

async function found(store: SessionStore, project: string, query: string, signal = never): Promise<number> {
  const { items } = await store.searchSessions(project, searchFilter(query, { limit: 100 }), signal);
  return items.length;
}

/** Begins a turn. A second call with the same key begins it again after a cut reply. */
async function begin(
  store: SessionStore,
  project: string,
  content: string,
  key: string | null = null,
): Promise<Turn> {
  const begun = await store.beginTurn(
    project,
    turnStart({ content, idempotencyKey: key === null ? null : once(key) }),
  );
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  return begun.turn;
}

/** Checks the indexes of a closed store, and returns how many messages wait for them. */
function checkIndexes(database: Database.Database): { readonly waiting: number; readonly messages: number } {
  for (const table of ['message_words', 'message_pieces']) {
    database.prepare(`INSERT INTO ${table} (${table}, rank) VALUES ('integrity-check', 1)`).run();
  }
  const strangers = 'SELECT message FROM search_waiting WHERE message NOT IN (SELECT id FROM messages)';
  expect(database.prepare(strangers).all()).toEqual([]);
  const counts =
    'SELECT (SELECT count(*) FROM search_waiting) AS waiting, count(*) AS messages FROM messages';
  return database.prepare(counts).get() as { waiting: number; messages: number };
}

/** Adds messages to the session that was created last. */
function addMessages(database: Database.Database, count: number): void {
  const add = database.prepare(
    `INSERT INTO messages (session, position, message_id, role, mode, created_at, content)
     SELECT max(id), ?, 'msg_' || ?, 'user', 'echo', 0, 'a mountain of words' FROM sessions`,
  );
  database.transaction(() => {
    for (let position = 10; position < 10 + count; position += 1) add.run(position, position);
  })();
}

/** Deletes the messages of a session directly in the database, as a purge does. */
function erase(path: string, sessionId: string): void {
  lookInto(path, (database) => {
    const session = `(SELECT id FROM sessions WHERE session_id = '${sessionId}')`;
    database.exec(`DELETE FROM idempotency WHERE message IN (SELECT id FROM messages WHERE session = ${session});
      DELETE FROM hidden_messages WHERE session = ${session};
      DELETE FROM messages WHERE session = ${session};
      UPDATE sessions SET message_count = 0 WHERE id = ${session};`);
  });
}

type Step =
  | { readonly kind: 'write' | 'search' | 'erase' | 'index'; readonly word: number }
  | { readonly kind: 'replace'; readonly word: number; readonly by: number };

const word = fc.nat({ max: 5 });
const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constantFrom('write' as const, 'search' as const, 'erase' as const, 'index' as const),
      word,
    }),
    fc.record({ kind: fc.constant('replace' as const), word, by: word }),
  ),
  { minLength: 1, maxLength: 25 },
);
const words = ['apple', 'birch', 'cedar', '東京都', '大阪府', 'apple 東京都'];

it('whatever is written, replaced and erased between searches, each search finds every stored message', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (chosen: readonly Step[]) => {
      const directory = temporaryDirectory();
      const path = join(directory, 'parley.db');
      const { store } = await openSqliteStore(storeOptions(directory));
      const project = await newProject(store);
      const turns: { turn: Turn; word: number }[] = [];
      let written = 0;
      for (const step of chosen) {
        if (step.kind === 'write') {
          const question = `question${written++}`;
          const turn = await begin(store, project, question, question);
          const content = words[step.word] as string;
          await store.endTurn(project, turn, turnReply({ content, finish_reason: 'interrupted' }));
          turns.push({ turn, word: step.word });
        } else if (step.kind === 'replace') {
          const cut = turns.find(({ word }) => word === step.word);
          if (cut === undefined) continue;
          const turn = await begin(store, project, '', cut.turn.content);
          const content = words[step.by] as string;
          await store.endTurn(project, turn, turnReply({ content, finish_reason: 'interrupted' }));
          cut.word = step.by;
        } else if (step.kind === 'erase') {
          const last = turns.pop();
          if (last !== undefined) erase(path, last.turn.session_id);
        } else if (step.kind === 'index') {
          fillIndexes(directory);
        } else {
          for (const query of ['apple', 'birch', '東京都', '大阪']) {
            const there = turns.filter(({ word }) => words[word]?.includes(query) === true);
            expect(await found(store, project, query)).toBe(there.length);
          }
        }
      }
      expect((await store.inspect()).integrity).toBe('ok');
      await store.close();
      lookInto(path, checkIndexes);
    }),
    { numRuns: runs(6, 600) },
  );
});

it('a turn adds nothing to the indexes; after many turns the messages are indexed without a search, before the store is closed', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'parley.db');
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  const chat = async (content: string) =>
    store.endTurn(project, await begin(store, project, content), turnReply({ content }));
  await chat('first');
  expect(lookInto(path, checkIndexes)).toEqual({ waiting: 2, messages: 2 });
  for (let turn = 1; turn < 140; turn += 1) await chat(`turn ${turn}`);
  await store.close();
  const { waiting, messages } = lookInto(path, checkIndexes);
  expect(messages).toBe(280);
  expect(waiting).toBeLessThanOrEqual(24);
});

it('huge messages are indexed a few at a time', async () => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const project = await newProject(store);
  for (let turn = 0; turn < 5; turn += 1) await begin(store, project, 'mountain '.repeat(30_000));
  expect(await found(store, project, 'mountain')).toBe(5);
});

it('a search that is stopped while it indexes many messages ends at once, and the indexed messages stay indexed', async () => {
  const directory = temporaryDirectory();
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  await begin(store, project, 'mountain');
  lookInto(join(directory, 'parley.db'), (database) => addMessages(database, 20_000));
  const stop = new AbortController();
  const searching = found(store, project, 'mountain', stop.signal);
  setTimeout(() => stop.abort(new Error('stopped')), 1);
  await expect(searching).rejects.toThrow('stopped');
  await store.close();
  const { waiting, messages } = lookInto(join(directory, 'parley.db'), checkIndexes);
  expect(waiting).toBeGreaterThan(0);
  expect(waiting).toBeLessThan(messages);
});

it('while another process writes, a search finds the new messages too, and waits only if very many are not in the index', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'parley.db');
  const { store } = await openTestStore({ ...storeOptions(directory), lockWaitMs: 50 });
  const project = await newProject(store);
  await begin(store, project, 'before');
  fillIndexes(directory);
  await begin(store, project, 'before again');
  const lock = await lockStore(path);
  expect(await found(store, project, 'before')).toBe(2);
  await lock.release();
  lookInto(path, (database) => addMessages(database, 1100));
  const again = await lockStore(path);
  await expect(found(store, project, 'mountain')).rejects.toMatchObject({ code: 'STORE_BUSY' });
  await again.release();
  expect(await found(store, project, 'mountain')).toBe(1);
});

it('a store whose index was filled at every message is migrated to one that is filled late, and a search finds all its messages', async () => {
  const directory = temporaryDirectory();
  const { path, project } = await olderStore(directory, 3);
  lookInto(path, (database) =>
    database.exec(`
      CREATE VIEW message_words_source (id, content, owner) AS SELECT id, content, '001' FROM messages;
      CREATE VIRTUAL TABLE message_words USING fts5 (content, owner, content = 'message_words_source', content_rowid = 'id');
      CREATE TRIGGER message_words_added AFTER INSERT ON messages BEGIN
        INSERT INTO message_words (rowid, content, owner) VALUES (new.id, new.content, '001');
      END;
      INSERT INTO messages (session, position, message_id, role, mode, created_at, content)
        SELECT id, 0, 'msg_1', 'user', 'echo', 0, 'an old fox' FROM sessions;
      UPDATE sessions SET message_count = 1;`),
  );
  const { store } = await openTestStore(storeOptions(directory));
  await begin(store, project, 'a new fox');
  expect(await found(store, project, 'fox')).toBe(2);
  expect((await store.inspect()).integrity).toBe('ok');
});

it('after a migration from schema 8 the messages that the indexes lack wait, and each message is found once', async () => {
  const directory = temporaryDirectory();
  const { path, project } = await olderStore(directory, 8);
  lookInto(path, (database) =>
    database.exec(`
      INSERT INTO messages (session, position, message_id, role, mode, created_at, content)
        SELECT id, n, 'msg_' || n, 'user', 'echo', 0, 'an old fox 東京' FROM sessions JOIN (SELECT 0 AS n UNION ALL SELECT 1);
      UPDATE search_progress SET through = 1;
      INSERT INTO message_words (rowid, content, owner) SELECT id, content, owner FROM message_words_source;
      INSERT INTO message_pieces (rowid, content, owner) SELECT id, content, owner FROM message_pieces_source;
      UPDATE sessions SET message_count = 2;`),
  );
  const { store } = await openSqliteStore(storeOptions(directory));
  for (const query of ['fox', '東京']) expect(await snippets(store, project, query)).toHaveLength(2);
  await store.close();
  expect(lookInto(path, checkIndexes)).toEqual({ waiting: 1, messages: 2 });
  fillIndexes(directory);
  expect(lookInto(path, checkIndexes)).toEqual({ waiting: 0, messages: 2 });
});

it('a search tells how many messages it indexes first, up to the last one', async () => {
  const directory = temporaryDirectory();
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  await begin(store, project, 'words');
  lookInto(join(directory, 'parley.db'), (database) => addMessages(database, 2000));
  const progress = await indexingOf(store, project, 'mountain');
  expect(progress.at(0)).toEqual([0, 2001]);
  expect(progress.at(-1)).toEqual([2001, 2001]);
  expect(progress.length).toBeGreaterThan(3);
  expect(progress.map(([messages]) => messages)).toEqual(
    progress.map(([messages]) => messages).sort((a, b) => a - b),
  );
  expect(await indexingOf(store, project, 'mountain')).toEqual([]);
  await store.close();
});
