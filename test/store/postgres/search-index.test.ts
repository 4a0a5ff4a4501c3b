// Several servers fill the index of words at the same time. A search waits for none of them, and misses nothing.
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { searchRules } from '../../../src/local/search-rules.ts';
import { connect } from '../../../src/store/postgres/connect.ts';
import { ConnectionPool } from '../../../src/store/postgres/connection-pool.ts';
import { searchReads } from '../../../src/store/postgres/search.ts';
import { SearchIndex } from '../../../src/store/postgres/search-index.ts';
import { indexQuery, wholeWords } from '../../../src/store/postgres/search-words.ts';
import { statement } from '../../../src/store/postgres/statement.ts';
import type { SessionStore } from '../../../src/store/session-store.ts';
import type { PostgresDatabase } from '../../support/postgres-server.ts';
import { openTestPostgres } from '../../support/postgres-store.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import {
  indexingOf,
  newProject,
  recordOf,
  search,
  searchFilter,
  snippets,
  turnReply,
} from '../store-samples.ts';
import { begin } from '../turn-steps.ts';

let server: PostgresDatabase;
let schemas = 0;
beforeAll(async () => {
  server = await sharedPostgres();
}, 60_000);

async function openPlace(): Promise<{ store: SessionStore; schema: string }> {
  schemas += 1;
  const schema = `place_${schemas}`;
  const { store } = await openTestPostgres(server, { schema });
  return { store, schema };
}

async function connected<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const { port, user, database } = server;
  const client = new pg.Client({ host: '127.0.0.1', port, user, database });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function rowsOf<Row>(sql: string): Promise<readonly Row[]> {
  return connected(async (client) => (await client.query(sql)).rows);
}

/** Runs a statement in a transaction that stays open until the work is done. */
function whileHeld(sql: string, work: () => Promise<void>): Promise<void> {
  return connected(async (client) => {
    await client.query('BEGIN');
    expect((await client.query(sql)).rowCount).not.toBe(0);
    await work();
    await client.query('COMMIT');
  });
}

test('a search finds what another server is about to index', async () => {
  const { store, schema } = await openPlace();
  const project = await newProject(store);
  const { session_id } = await begin(store, project, { content: 'a fox here' });
  await whileHeld(`SELECT 1 FROM ${schema}.to_index FOR UPDATE`, async () => {
    const { items } = await search(store, project, 'fox');
    expect(items.map(({ session }) => session.session_id)).toEqual([session_id]);
  });
});

test('a search finds what another server has indexed in a transaction that is still open', async () => {
  const { store, schema } = await openPlace();
  const project = await newProject(store);
  await begin(store, project, { content: 'a fox here' });
  await whileHeld(`DELETE FROM ${schema}.to_index`, async () => {
    expect((await search(store, project, 'fox')).items).toHaveLength(1);
  });
});

test('a search waits for no messages of other projects, and indexes its own project’s if there are many', async () => {
  const { store, schema } = await openPlace();
  const [mine, other] = [await newProject(store), await newProject(store)];
  await store.importSession(other, recordOf('ses_other', Array(255).fill('a fox')), null);
  await whileHeld(`SELECT 1 FROM ${schema}.to_index FOR UPDATE`, async () => {
    await store.importSession(mine, recordOf('ses_mine', Array(200).fill(`a fox ${'x'.repeat(9000)}`)), null);
    expect((await search(store, mine, 'fox')).items).toHaveLength(1);
    const queued = `SELECT coalesce(sum(bytes), 0)::integer AS bytes FROM ${schema}.to_index WHERE bytes > 9000`;
    // The store may be indexing some of them in the background already.
    const left = async () => (await rowsOf<{ bytes: number }>(queued))[0]?.bytes;
    await expect.poll(left).toBeLessThanOrEqual(1024 * 1024);
  });
});

test('a reply that replaces a cut one is found by its own words before it is indexed', async () => {
  const { store, schema } = await openPlace();
  const project = await newProject(store);
  const turn = await begin(store, project, { content: 'question' });
  const cut = turnReply({ content: 'the half of it', finish_reason: 'interrupted' });
  await store.endTurn(project, turn, cut);
  // More messages than a search reads itself, so that all are indexed.
  await store.importSession(project, recordOf('ses_many', Array(1001).fill('filler')), null);
  expect(await snippets(store, project, 'half')).toHaveLength(1);
  await whileHeld(`LOCK TABLE ${schema}.search IN SHARE MODE`, async () => {
    await store.endTurn(project, turn, turnReply({ content: 'the whole of it' }));
    expect(await snippets(store, project, 'half')).toEqual([]);
    expect(await snippets(store, project, 'whole')).toEqual(['the ⟦whole⟧ of it']);
  });
});

/** A pool as the store has one, over its schema. */
async function withPool<T>(schema: string, work: (pool: ConnectionPool) => Promise<T>): Promise<T> {
  const { port, user, database } = server;
  const place = { host: '127.0.0.1', port, user, database };
  const pool = new ConnectionPool({
    connect: () => connect([place], { name: 'test', acceptsLoss: true }),
    ...{ name: 'test', schema, size: 1, patienceMs: 1000, prepare: true, random: Math.random },
  });
  try {
    return await work(pool);
  } finally {
    await pool.close();
  }
}

const fox = searchFilter('fox');
const indexed = { project: 1, messages: 1, unindexed: true, isRare: false };

test('the hits of a search are planned for its words each time, however often it is asked', async () => {
  const { schema, store } = await openPlace();
  await begin(store, await newProject(store), { content: 'a fox here' });
  const prepared = await withPool(schema, async (pool) => {
    for (let times = 0; times < 8; times += 1) {
      const reads = searchReads(pool.ask, searchRules, indexed, fox);
      expect(await reads.hits(10)).toHaveLength(1);
    }
    return pool.ask<{ text: string }>(statement('SELECT statement AS text FROM pg_prepared_statements'));
  });
  expect(prepared.length).toBeGreaterThan(0);
  expect(prepared.filter(({ text }) => text.includes('@@'))).toEqual([]);
});

/** Two projects with messages of the same words, all of them indexed. */
async function openIndexed() {
  const { schema, store } = await openPlace();
  const [mine, other] = [await newProject(store), await newProject(store)];
  await store.importSession(mine, recordOf('ses_mine', Array(20).fill('a fox here')), null);
  await store.importSession(other, recordOf('ses_other', Array(20).fill('a fox here')), null);
  await search(store, mine, 'fox');
  await search(store, other, 'fox');
  // While messages are stored, the index takes its time.
  const queued = `SELECT count(*)::integer AS count FROM ${schema}.to_index`;
  await expect.poll(() => rowsOf<{ count: number }>(queued)).toEqual([{ count: 0 }]);
  await store.close();
  const number = async (project: string) =>
    (await rowsOf<{ id: number }>(`SELECT id FROM ${schema}.projects WHERE project_id = '${project}'`))[0]
      ?.id ?? 0;
  return { schema, projectId: mine, mine: await number(mine), other: await number(other) };
}

test('a search is planned for few hits unless all of its words are frequent in the store', async () => {
  const { schema, projectId } = await openIndexed();
  await rowsOf(`ANALYZE ${schema}.search`);
  await withPool(schema, async (pool) => {
    const index = new SearchIndex(pool, async () => searchRules);
    const isRare = async (query: string) => {
      const request = { projectId, keyHash: null, filter: searchFilter(query) };
      const indexed = await index.keepShort(request, new AbortController().signal);
      return typeof indexed === 'object' && indexed?.isRare;
    };
    expect([await isRare('fo*'), await isRare('fox'), await isRare('fox badger')]).toEqual([
      false,
      false,
      true,
    ]);
  });
});

test('a search reads no more hits from the index than it is asked for', async () => {
  const { schema, mine } = await openIndexed();
  await withPool(schema, async (pool) => {
    const counts: number[] = [];
    const ask: typeof pool.ask = async (...given) => {
      const rows = await pool.ask(...given);
      counts.push(rows.length);
      return rows as never;
    };
    const reads = searchReads(ask, searchRules, { ...indexed, project: mine }, fox);
    expect(await reads.hits(5)).toHaveLength(5);
    expect(Math.max(...counts)).toBe(5);
  });
});

test('the index distinguishes the words of one project from the same words of another', async () => {
  const { schema, mine, other } = await openIndexed();
  for (const project of [mine, other]) {
    const { query } = indexQuery(fox, project, searchRules);
    const found = `SELECT DISTINCT sessions.project FROM ${schema}.search JOIN ${schema}.sessions
      ON sessions.id = search.session WHERE words @@ $$${query}$$::tsquery`;
    expect(await rowsOf(found)).toEqual([{ project }]);
  }
});

test('the hits of a search are of its project, whatever words the index has of another', async () => {
  const { schema, mine, other } = await openIndexed();
  // As an index of another version, or of a restored table, could have them.
  await rowsOf(`UPDATE ${schema}.search SET words = replace(words::text, '${other}:', '${mine}:')::tsvector`);
  await withPool(schema, async (pool) => {
    const reads = searchReads(pool.ask, searchRules, { ...indexed, project: mine }, fox);
    expect(await reads.hits(100)).toHaveLength(20);
  });
});

test('a search reports how many messages it indexes first, up to the last one', async () => {
  const { store, schema } = await openPlace();
  const project = await newProject(store);
  await begin(store, project, { content: 'words' });
  // Another program has stored messages, and ended before they were indexed.
  await rowsOf(`
    WITH added AS (
      INSERT INTO ${schema}.messages (session, position, message_id, role, mode, created_at, content)
      SELECT max(id), number, 'msg_' || number, 'user', 'echo', 0, 'a mountain of words'
      FROM ${schema}.sessions, generate_series(10, 2009) AS number GROUP BY number RETURNING session, position
    )
    INSERT INTO ${schema}.to_index (project, session, position, bytes)
    SELECT sessions.project, session, position, 19 FROM added JOIN ${schema}.sessions ON sessions.id = session`);
  const progress = await indexingOf(store, project, 'mountain');
  expect(progress.at(0)).toEqual([0, 2001]);
  expect(progress.at(-1)).toEqual([2001, 2001]);
  expect(progress.length).toBeGreaterThan(3);
});

test.each([
  ['a fox', ['wa', 'wfox']],
  ['a fox-hunt', ['wa', 'wfox', 'whunt']],
  ['big fo*', ['wbig']],
])('the whole words of the search %s', (query, words) => {
  expect(wholeWords(searchFilter(query), searchRules)).toEqual(words);
});
