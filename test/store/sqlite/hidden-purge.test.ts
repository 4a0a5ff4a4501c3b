// The bytes of hidden messages: undo and other replies leave no word in the search indexes, and a purge leaves no byte in any file.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import { another, everyMessage, forkId, forkOf, moveOf, turnOf } from '../line-samples.ts';
import { newProject, once, search, snippets, startOfTime } from '../store-samples.ts';

const word = 'canaryalpha';
const filter = { projectId: null, deletedBefore: startOfTime + 1 };

function placesOf(text: string, directory: string): readonly string[] {
  return readdirSync(directory).filter((name) => readFileSync(join(directory, name)).includes(text));
}

/** The words in the search indexes that begin with these characters. */
function indexedWords(directory: string, beginning: string): unknown {
  return lookInto(join(directory, 'parley.db'), (database) => {
    database.exec(`CREATE VIRTUAL TABLE temp.words USING fts5vocab ('main', 'message_words', 'row')`);
    return database.prepare(`SELECT term FROM temp.words WHERE term GLOB ?`).pluck().all(`${beginning}*`);
  });
}

test('no byte of an alternative or an undone message is left after a purge, in texts of any length', async () => {
  const directory = temporaryDirectory();
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  const long = `${word} `.repeat(10_000);
  const { session_id } = await turnOf(store, project, null, `${word} a`, { content: long });
  await another(store, project, session_id, { content: `${word} b` }, { idempotencyKey: once('another') });
  await another(store, project, session_id, { content: long, finish_reason: 'error' });
  await turnOf(store, project, session_id, long, { content: `${word} 語彙の` });
  // The answers of these keys hold the message.
  await store.undoTurn(project, moveOf(session_id, { idempotencyKey: once('undo') }));
  await store.redoTurn(project, moveOf(session_id, { idempotencyKey: once('redo') }));
  await search(store, project, word);
  await store.undoTurn(project, moveOf(session_id));
  const other = await turnOf(store, project, null, 'canarybeta');
  await store.undoTurn(project, moveOf(other.session_id));
  await store.deleteSession(project, session_id, startOfTime);
  const texts = [`${word} a`, long, `${word} b`, long, long, `${word} 語彙の`];
  expect(await store.planPurge(filter)).toMatchObject({
    ...{ sessions: 1, messages: 6, text_bytes: Buffer.byteLength(texts.join('')) },
  });
  expect(await store.purgeSessions(filter, { expected: 1, keptSince: 0 })).toMatchObject({
    kind: 'purged',
    report: { sessions: 1, messages: 6, integrity: 'ok' },
  });
  expect(await everyMessage(store, project, other.session_id)).toHaveLength(2);
  await store.close();
  expect(placesOf(word, directory)).toEqual([]);
  expect(placesOf(session_id, directory)).toEqual([]);
  expect(placesOf('canarybeta', directory)).toEqual(['parley.db']);
});

test('a session with hundreds of hidden messages is purged in parts, as a whole', async () => {
  const directory = temporaryDirectory();
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  const { session_id } = await turnOf(store, project, null, 'a');
  await store.close();
  lookInto(join(directory, 'parley.db'), (database) =>
    database.exec(`
      WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 400)
      INSERT INTO hidden_messages (session, position, message_id, alternative_of, role, mode, finish_reason, created_at, content)
      SELECT session, 1, 'msg_' || number, message_id, 'assistant', 'echo', 'stop', 1, '${word} ' || number
      FROM messages JOIN numbers WHERE position = 0`),
  );
  const { store: again } = await openTestStore(storeOptions(directory));
  await again.deleteSession(project, session_id, startOfTime);
  expect(await again.purgeSessions(filter, { expected: 1, keptSince: 0 })).toMatchObject({
    report: { sessions: 1, messages: 402, integrity: 'ok' },
  });
  await again.close();
  expect(placesOf(word, directory)).toEqual([]);
});

test('the words of undone messages and replaced replies leave the search indexes, and come back with a redo', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore(storeOptions(directory));
  const project = await newProject(store);
  const { session_id } = await turnOf(store, project, null, 'kept', { content: 'replaced' });
  await turnOf(store, project, session_id, 'undone', { content: 'also undone' });
  // Over 256 messages are indexed at once; fewer wait for the next search.
  const many = Array.from({ length: 300 }, (_, index) => turnOf(store, project, null, `other ${index}`));
  await Promise.all(many);
  await expect.poll(() => indexedWords(directory, 'undone')).toEqual(['undone']);
  expect(indexedWords(directory, 'replaced')).toEqual(['replaced']);
  await store.undoTurn(project, moveOf(session_id));
  await another(store, project, session_id, { content: 'better' });
  expect(indexedWords(directory, 'undone')).toEqual([]);
  expect(indexedWords(directory, 'replaced')).toEqual([]);
  expect(await snippets(store, project, 'replaced')).toEqual([]);
  expect(await snippets(store, project, 'better')).toEqual(['⟦better⟧']);
  const forked = forkId(await store.forkSession(project, forkOf(session_id), null));
  expect(await snippets(store, project, 'better')).toHaveLength(2);
  await store.undoTurn(project, moveOf(forked));
  await store.redoTurn(project, moveOf(forked));
  expect(await snippets(store, project, 'better')).toHaveLength(2);
  expect((await store.inspect()).integrity).toBe('ok');
});

test('an inspection names sessions whose lines contradict themselves', async () => {
  const faults = [
    'UPDATE sessions SET undone_turns = 2',
    "DELETE FROM hidden_messages WHERE role = 'assistant' AND undone_at IS NOT NULL",
    "UPDATE hidden_messages SET alternative_of = 'msg_none' WHERE alternative_of IS NOT NULL",
    'UPDATE sessions SET message_count = 4',
  ];
  for (const fault of faults) {
    const directory = temporaryDirectory();
    const { store } = await openSqliteStore(storeOptions(directory));
    const project = await newProject(store);
    const { session_id } = await turnOf(store, project, null, 'a');
    await another(store, project, session_id, { content: 'b' });
    await turnOf(store, project, session_id, 'c');
    await store.undoTurn(project, moveOf(session_id));
    expect((await store.inspect()).integrity).toBe('ok');
    await store.close();
    lookInto(join(directory, 'parley.db'), (database) => database.exec(fault));
    const { store: again } = await openTestStore(storeOptions(directory));
    expect((await again.inspect()).integrity).toBe(`sessions that lack messages: ${session_id}`);
  }
});
