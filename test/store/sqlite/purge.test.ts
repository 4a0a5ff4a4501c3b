// The bytes of a purge: no file of the store contains a text of a purged session any more, and nothing else is missing.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { EmbeddedBackend } from '../../../src/service/backend.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { callWith, failureOf, say } from '../../support/calls.ts';
import { type EmbeddedOptions, newKey, openEmbedded } from '../../support/embedded.ts';
import { RawDatabase } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { newProject, newSession, startOfTime, turnReply, turnStart } from '../store-samples.ts';

const day = 24 * 60 * 60 * 1000;

interface Held {
  readonly directory: string;
  readonly file: string;
  readonly backend: EmbeddedBackend;
  readonly key: string;
  /** The clock of the store. */
  readonly clock: { now: number };
  request(days: number): { readonly project_id: null; readonly deleted_before: string };
}

async function hold(options: EmbeddedOptions = {}): Promise<Held> {
  const directory = temporaryDirectory();
  const clock = { now: Date.now() };
  const backend = await openEmbedded(directory, { now: () => clock.now, ...options });
  onTestFinished(() => backend.close());
  return {
    directory,
    file: join(directory, 'parley.db'),
    backend,
    key: await newKey(backend, 'first'),
    clock,
    request: (days) => ({
      project_id: null,
      deleted_before: new Date(clock.now - days * day).toISOString(),
    }),
  };
}

/** The files in the directory that contain the word. Call it only while no SQLite of this process has them open. */
function placesOf(word: string, directory: string): readonly string[] {
  return readdirSync(directory).filter((name) => readFileSync(join(directory, name)).includes(word));
}

/** A session with the word in its title, its settings, its message and its reply, and in the stored answer of an idempotency key. */
async function sayEverywhere({ backend, key }: Held, word: string): Promise<string> {
  const named = callWith(key, { idempotencyKey: `title-${word.length}-${Math.random()}` });
  const settings = { system: `${word} `.repeat(700), parameters: { stop: [word] } };
  const start = { title: `about ${word}`, ...settings };
  const { session_id } = (await backend.service.createSession(named, start)).data;
  const turn = callWith(key, { idempotencyKey: `turn-${Math.random()}` });
  await say(backend.service, turn, `${word} `.repeat(700), session_id);
  return session_id;
}

test('no byte of a purged session is left in the store, its log or its backups, and every other session is whole', async () => {
  const held = await hold();
  const { backend, key, clock, directory, file } = held;
  const call = callWith(key);
  const gone = [await sayEverywhere(held, 'canary-alpha'), await sayEverywhere(held, 'canary-alpha')];
  const other = await sayEverywhere(held, 'canary-beta');
  const lately = await sayEverywhere(held, 'canary-gamma');
  await backend.archive.deleteSessions(callWith(key, { idempotencyKey: 'both' }), gone);
  clock.now += 40 * day;
  await backend.service.deleteSession(call, lately);
  const before = (await backend.archive.listMessages(call, other, { limit: 200, cursor: null })).data;
  const raw = new RawDatabase(file);
  raw.prepare('VACUUM INTO ?').run(`${file}.backup-v1`);
  raw.close();
  writeFileSync(`${file}.backup-part`, 'canary-alpha');
  await backend.close();
  // The search for the word works: it is found before the purge.
  expect([...placesOf('canary-alpha', directory)].sort()).toEqual([
    'parley.db',
    'parley.db.backup-part',
    'parley.db.backup-v1',
  ]);

  const again = await openEmbedded(directory, { now: () => clock.now });
  onTestFinished(() => again.close());
  const plan = await again.administration.planPurge(held.request(30));
  expect(plan).toEqual({
    sessions: 2,
    messages: 4,
    text_bytes: 4 * 'canary-alpha '.length * 700,
    backups: [`${file}.backup-part`, `${file}.backup-v1`],
    unfinished: false,
  });
  const report = await again.administration.purgeSessions({ ...held.request(30), expected_sessions: 2 });
  expect(report).toMatchObject({
    sessions: 2,
    messages: 4,
    backups_removed: plan.backups,
    facts: [
      { name: 'pages', value: report.bytes / 4096 },
      { name: 'free_pages', value: 0 },
      { name: 'log_bytes', value: 0 },
    ],
    integrity: 'ok',
  });
  expect(report.bytes).toBeLessThan(report.bytes_before);
  expect((await again.archive.listMessages(call, other, { limit: 200, cursor: null })).data).toEqual(before);
  expect((await again.archive.restoreSession(call, lately)).data.title).toBe('about canary-gamma');
  expect((await failureOf(again.archive.restoreSession(call, gone[0] ?? ''))).code).toBe('SESSION_NOT_FOUND');
  await again.close();
  expect(placesOf('canary-alpha', directory)).toEqual([]);
  for (const id of gone) expect(placesOf(id, directory)).toEqual([]);
  expect(placesOf('canary-beta', directory)).toEqual(['parley.db']);
});

test('the words of purged messages are erased from the search indexes', async () => {
  const held = await hold();
  const { backend, file, directory, key } = held;
  const raw = new RawDatabase(file);
  raw.exec(`
    CREATE VIRTUAL TABLE words_of_test USING fts5 (content, content = 'messages', content_rowid = 'id');
    CREATE TRIGGER words_added AFTER INSERT ON messages BEGIN
      INSERT INTO words_of_test (rowid, content) VALUES (new.id, new.content);
    END;
    CREATE TRIGGER words_removed AFTER DELETE ON messages BEGIN
      INSERT INTO words_of_test (words_of_test, rowid, content) VALUES ('delete', old.id, old.content);
    END;`);
  raw.close();
  const gone = await sayEverywhere(held, 'canaryword');
  await sayEverywhere(held, 'otherword');
  await backend.service.deleteSession(callWith(key), gone);
  held.clock.now += 1000;
  await backend.administration.purgeSessions({ ...held.request(0), expected_sessions: 1 });
  await backend.close();
  expect(placesOf('canaryword', directory)).toEqual([]);
  const found = new RawDatabase(file);
  const rows = found.prepare(`SELECT count(*) FROM words_of_test ('otherword')`).pluck().get();
  found.close();
  expect(rows).toBe(2);
});

test('while another process reads, a purge fails with "Not yet" and has erased nothing; afterwards it works', async () => {
  const held = await hold({ lockWaitMs: 300 });
  const { backend, file, key } = held;
  const gone = await sayEverywhere(held, 'canary-alpha');
  await backend.service.deleteSession(callWith(key), gone);
  held.clock.now += 1000;
  const reader = new RawDatabase(file, { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM messages').get();
  // Content of the log that the reader does not see.
  await backend.service.createSession(callWith(key), { title: null });
  const refused = await failureOf(
    backend.administration.purgeSessions({ ...held.request(0), expected_sessions: 1 }),
  );
  expect(refused.code).toBe('STORE_BUSY');
  expect(refused.message).toMatch(/^Not yet: .*Nothing was erased yet\.$/);
  reader.close();
  expect(await backend.administration.planPurge(held.request(0))).toMatchObject({
    sessions: 1,
    unfinished: false,
  });
  const report = await backend.administration.purgeSessions({ ...held.request(0), expected_sessions: 1 });
  expect(report).toMatchObject({ sessions: 1, messages: 2, integrity: 'ok' });
});

test('a purge that is stopped before the file is rebuilt leaves no byte in the pages that it freed', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'parley.db');
  const { store } = await openSqliteStore({ ...storeOptions(directory), lockWaitMs: 100 });
  const project = await newProject(store);
  const word = 'canary-alpha ';
  const begun = await store.beginTurn(project, turnStart({ content: word.repeat(9000) }));
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  await store.endTurn(project, begun.turn, turnReply({ content: word.repeat(3) }));
  await newSession(store, project);
  await store.deleteSession(project, begun.turn.session_id, startOfTime);
  const filter = { projectId: null, deletedBefore: startOfTime + 1, now: startOfTime };
  const purge = store.purgeSessions(filter, { expected: 1, keptSince: 0 });
  const refused = failureOf(purge);
  const reader = new RawDatabase(file, { readonly: true });
  while (reader.prepare(`SELECT 1 FROM meta WHERE name = 'purge'`).get() === undefined)
    await new Promise((resolve) => setImmediate(resolve));
  // A reader like another process: the log cannot be emptied, so the file is not rebuilt.
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM sessions').get();
  expect((await refused).message).toMatch(/Their rows are gone, but not yet all of their bytes\.$/);
  reader.close();
  await store.close();
  expect(placesOf('canary-alpha', directory)).toEqual([]);
});

test('a purge that was cut after its rows were erased is reported, and the next purge finishes it', async () => {
  const held = await hold();
  const { backend, file, key } = held;
  const gone = await sayEverywhere(held, 'canary-alpha');
  await backend.service.deleteSession(callWith(key), gone);
  const raw = new RawDatabase(file);
  raw.exec(`INSERT INTO meta (name, value) VALUES ('purge', 'begun');
    DELETE FROM idempotency; DELETE FROM messages; DELETE FROM sessions;`);
  raw.close();
  expect(await backend.administration.planPurge(held.request(0))).toMatchObject({
    sessions: 0,
    unfinished: true,
  });
  await backend.administration.purgeSessions({ ...held.request(0), expected_sessions: 0 });
  expect(await backend.administration.planPurge(held.request(0))).toMatchObject({ unfinished: false });
  await backend.close();
  expect(placesOf('canary-alpha', held.directory)).toEqual([]);
});

test('a purge with an unexpected count erases nothing', async () => {
  const held = await hold();
  const { backend, key } = held;
  const id = await sayEverywhere(held, 'canary-alpha');
  await backend.service.deleteSession(callWith(key), id);
  held.clock.now += 1000;
  const refused = await failureOf(
    backend.administration.purgeSessions({ ...held.request(0), expected_sessions: 2 }),
  );
  expect(refused.code).toBe('INVALID_REQUEST');
  expect((await backend.archive.restoreSession(callWith(key), id)).data.message_count).toBe(2);
});
