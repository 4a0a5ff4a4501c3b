// Searching the SQLite store: what is found, in which order, and that nothing of a message stays when it goes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readQuery } from '../../../src/local/search-query.ts';
import { ParleyError } from '../../../src/service/errors.ts';
import { defaultLimits } from '../../../src/service/limits.ts';
import type { SessionStore } from '../../../src/store/session-store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { schema } from '../../../src/store/sqlite/schema.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { openTestStore, temporaryDirectory } from '../../support/test-store.ts';
import { newId, newProject, newSession, turnReply, turnStart } from '../store-samples.ts';

function find(store: SessionStore, project: string, query: string, limit = 50) {
  return store.searchSessions(
    project,
    { terms: readQuery(query, defaultLimits), limit, cursor: null },
    new AbortController().signal,
  );
}

async function snippets(store: SessionStore, project: string, query: string): Promise<readonly string[]> {
  return (await find(store, project, query)).items.flatMap(({ hits }) => hits.map(({ snippet }) => snippet));
}

async function begin(store: SessionStore, project: string, content: string) {
  const begun = await store.beginTurn(project, turnStart({ content }));
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  return begun.turn;
}

it('fills the index of a store of schema 1, keeps a copy of it, and finds what was said before and after', async () => {
  const directory = temporaryDirectory();
  const [first] = schema;
  if (first === undefined) throw new Error('no schema');
  const old = await openSqliteStore({ ...storeOptions(directory), migrations: [first] });
  const project = await newProject(old.store);
  const session = await newSession(old.store, project);
  await old.store.close();
  // As a Parley of that schema wrote it: this one writes columns that it has not.
  lookInto(join(directory, 'parley.db'), (database) => {
    const add = database.prepare(
      `INSERT INTO messages (session, position, message_id, role, mode, finish_reason, created_at, content)
       SELECT id, ?, 'msg_' || ?, ?, 'echo', ?, 0, ? FROM sessions WHERE session_id = '${session}'`,
    );
    add.run(0, 0, 'user', null, 'an old fox in 東京');
    add.run(1, 1, 'assistant', 'stop', 'an old dog');
    database.prepare('UPDATE sessions SET message_count = 2').run();
  });

  const { store } = await openTestStore(storeOptions(directory));
  await begin(store, project, 'a new fox');
  expect([...(await snippets(store, project, 'fox'))].sort()).toEqual([
    'a new ⟦fox⟧',
    'an old ⟦fox⟧ in 東京',
  ]);
  expect(await snippets(store, project, '東京')).toEqual(['an old fox in ⟦東京⟧']);
  expect((await store.inspect()).integrity).toBe('ok');
  const backup = `${join(directory, 'parley.db')}.backup-v1`;
  expect(lookInto(backup, (database) => database.pragma('user_version', { simple: true }))).toBe(1);
});

it('a reply that takes the place of a cut one takes its place in the index, too', async () => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const project = await newProject(store);
  const turn = await begin(store, project, 'question');
  await store.endTurn(project, turn, turnReply({ content: 'half 東京 of', finish_reason: 'interrupted' }));
  expect(await snippets(store, project, 'half')).toHaveLength(1);
  await store.endTurn(project, turn, turnReply({ content: 'whole 大阪 now' }));
  expect(await snippets(store, project, 'half')).toEqual([]);
  expect(await snippets(store, project, '東京')).toEqual([]);
  expect(await snippets(store, project, 'whole 大阪')).toEqual(['⟦whole⟧ ⟦大阪⟧ now']);
});

it('a message whose row is deleted leaves no byte of its words in the file, once the indexes are optimized and it is vacuumed', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'parley.db');
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  await begin(store, project, 'canaryword stands beside 金糸雀金糸雀');
  await begin(store, project, 'a neighbour stays');
  expect(await snippets(store, project, 'canaryword')).toHaveLength(1);
  await store.close();
  expect(readFileSync(path).includes('canaryword')).toBe(true);
  lookInto(path, (database) => {
    database.pragma('secure_delete = ON');
    database.exec(`DELETE FROM messages WHERE content LIKE '%canaryword%'; UPDATE sessions SET title = 'x'`);
    for (const table of ['message_words', 'message_pieces'])
      database.exec(`INSERT INTO ${table} (${table}) VALUES ('optimize')`);
    database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
    database.exec('CREATE VIRTUAL TABLE temp.known_words USING fts5vocab (main, message_words, row)');
    const known = 'SELECT term FROM message_pieces_known UNION ALL SELECT term FROM known_words';
    const terms = database.prepare(known).pluck().all();
    expect(terms).toContain('neighbour');
    expect(terms.filter((term) => /canary|stands|[金糸雀]/u.test(String(term)))).toEqual([]);
    for (const table of ['message_words', 'message_pieces']) {
      database.prepare(`INSERT INTO ${table} (${table}, rank) VALUES ('integrity-check', 1)`).run();
    }
  });
  const bytes = readFileSync(path);
  for (const canary of ['canaryword', '金糸雀']) expect(bytes.includes(canary)).toBe(false);
});

it('ranks the newest 10,000 hits of a word that is everywhere, and says so', async () => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const project = await newProject(store);
  const time = '2024-05-01T12:00:00.000Z';
  const take = (session_id: string, count: number, text: string) => {
    const messages = Array.from({ length: count }, (_, position) => ({
      ...{ message_id: newId('msg'), position, content: text, mode: 'echo', usage: null, created_at: time },
      role: position % 2 === 0 ? ('user' as const) : ('assistant' as const),
      finish_reason: position % 2 === 0 ? null : ('stop' as const),
    }));
    const session = { session_id, title: null, created_at: time, updated_at: time, message_count: count };
    return store.importSession(project, { session, messages }, null);
  };
  await take('ses_oldest', 2, 'everywhere everywhere');
  await take('ses_many', 9_998, 'everywhere');
  const all = await find(store, project, 'everywhere');
  expect(all.newest_only).toBe(false);
  expect(all.items.map(({ session }) => session.session_id)).toEqual(['ses_oldest', 'ses_many']);
  await take('ses_newest', 2, 'everywhere');
  const newest = await find(store, project, 'everywhere');
  expect(newest.newest_only).toBe(true);
  expect(newest.items.map(({ session }) => session.session_id)).toEqual(['ses_newest', 'ses_many']);
});

it('every query is answered or refused, whatever it holds', async () => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const project = await newProject(store);
  await begin(store, project, 'the fox AND "the" dog* 東京 NEAR(a b) ^x -y {z} col:umn');
  const piece = fc.oneof(
    fc.constantFrom(
      '"',
      '*',
      ' ',
      'AND',
      'OR',
      'NOT',
      'NEAR(',
      ')',
      '(',
      '^',
      ':',
      '-',
      '+',
      '{',
      '}',
      "'",
      ';',
      '\\',
      '東',
      '東京',
      'fox',
      '%',
      '_',
      '|',
      '/',
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      try {
        expect((await find(store, project, pieces.join(''))).items.length).toBeLessThanOrEqual(1);
      } catch (error) {
        expect(error).toBeInstanceOf(ParleyError);
        expect((error as ParleyError).code).toBe('INVALID_REQUEST');
      }
    }),
    { numRuns: 1500 },
  );
});

it('a message is found by each of its words', async () => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const project = await newProject(store);
  const word = fc.stringMatching(/^[a-zäöüéñA-Z0-9а-я]{1,8}$/);
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 6 }), async (words) => {
      const mark = newId('mark').replaceAll('_', 'x');
      await begin(store, project, `${words.join(', ')} ${mark}`);
      for (const one of words) expect(await snippets(store, project, `${one} ${mark}`)).toHaveLength(1);
    }),
    { numRuns: 100 },
  );
});

/** How often others got their turn while the work was done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false];
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  return turns;
}

it('lets others have their turn while it ranks many hits, and while it shows long ones', async () => {
  const directory = temporaryDirectory();
  const { store: first } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(first);
  const sessions: string[] = [];
  for (let count = 0; count < 20; count += 1) sessions.push(await newSession(first, project));
  await first.close();
  const sentence = 'a quick brown fox of e.g. it is on us ';
  lookInto(join(directory, 'parley.db'), (database) => {
    const add = database.prepare(`
      INSERT INTO messages (session, position, message_id, role, mode, created_at, content)
      VALUES ((SELECT id FROM sessions WHERE session_id = ?), ?, ?, 'user', 'echo', 1, ?)`);
    database.transaction(() => {
      for (let count = 0; count < 800; count += 1) {
        add.run(sessions[count % 20], count, `m${count}`, sentence.repeat(40));
      }
      for (const [count, session] of sessions.entries()) {
        add.run(session, 5000 + count, `l${count}`, `needle ${sentence.repeat(300)}`);
      }
    })();
  });
  const { store } = await openTestStore(storeOptions(directory));
  expect((await find(store, project, 'needle')).items).toHaveLength(20);
  // 1.4 MB are read, 64 KiB in a turn; and each session is shown in a turn of its own.
  const ranking = await turnsDuring(() => find(store, project, 'quick brown fox', 1));
  expect(ranking).toBeGreaterThan(20);
  expect(await turnsDuring(() => find(store, project, 'needle', 20))).toBeGreaterThan(20);
});

it('shows the first hit of a long text, wherever it stands, and no word that is only cut to be one', async () => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const project = await newProject(store);
  const filling = 'word '.repeat(1637);
  // The first part that is looked at ends inside of "catalogue".
  await begin(store, project, `${filling}  a catalogue ${filling.repeat(3)} the cat sat`);
  const [snippet = ''] = await snippets(store, project, 'cat');
  expect(snippet).toContain('the ⟦cat⟧ sat');
});
