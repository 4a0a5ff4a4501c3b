// Searches in the SQLite store: an index that is filled late, the erasure of its words, and the pauses of a search.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { fillIndexes } from '../../support/filled-indexes.ts';
import { olderStore } from '../../support/older-store.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import { newProject, newSession, search, snippets } from '../store-samples.ts';
import { begin } from '../turn-steps.ts';

it('fills the index of a store of schema 1, keeps a copy of the store, and finds earlier and later messages', async () => {
  const directory = temporaryDirectory();
  const { path, project, session } = await olderStore(directory, 1);
  lookInto(path, (database) => {
    const add = database.prepare(
      `INSERT INTO messages (session, position, message_id, role, mode, finish_reason, created_at, content)
       SELECT id, ?, 'msg_' || ?, ?, 'echo', ?, 0, ? FROM sessions WHERE session_id = '${session}'`,
    );
    add.run(0, 0, 'user', null, 'an old fox in 東京');
    add.run(1, 1, 'assistant', 'stop', 'an old dog');
    database.prepare('UPDATE sessions SET message_count = 2').run();
  });

  const { store } = await openTestStore(storeOptions(directory));
  await begin(store, project, { content: 'a new fox' });
  expect([...(await snippets(store, project, 'fox'))].sort()).toEqual([
    'a new ⟦fox⟧',
    'an old ⟦fox⟧ in 東京',
  ]);
  expect(await snippets(store, project, '東京')).toEqual(['an old fox in ⟦東京⟧']);
  expect((await store.inspect()).integrity).toBe('ok');
  const backup = `${path}.backup-v1`;
  expect(lookInto(backup, (database) => database.pragma('user_version', { simple: true }))).toBe(1);
});

it('a deleted message leaves no byte of its words in the file after the indexes are optimized and the file is vacuumed', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'parley.db');
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  await begin(store, project, { content: 'canaryword stands beside 金糸雀金糸雀' });
  await begin(store, project, { content: 'a neighbour stays' });
  expect(await snippets(store, project, 'canaryword')).toHaveLength(1);
  await store.close();
  fillIndexes(directory);
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

/** How often the event loop turned during the work. */
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

it('lets the event loop turn while it ranks many hits, and while it shows long ones', async () => {
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
  expect((await search(store, project, 'needle')).items).toHaveLength(20);
  // 1.4 MB are read, 64 KiB in each turn, and each session is shown in a turn of its own.
  const ranking = await turnsDuring(() => search(store, project, 'quick brown fox', 1));
  expect(ranking).toBeGreaterThan(20);
  expect(await turnsDuring(() => search(store, project, 'needle', 20))).toBeGreaterThan(20);
});
