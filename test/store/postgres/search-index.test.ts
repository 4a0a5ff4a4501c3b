// Several servers fill the index of words at the same time. A search waits for none of them, and misses nothing.
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { storeRules } from '../../../src/local/local-store-rules.ts';
import { connect } from '../../../src/store/postgres/connect.ts';
import { ConnectionPool } from '../../../src/store/postgres/connection-pool.ts';
import { searchReads } from '../../../src/store/postgres/search.ts';
import { statement } from '../../../src/store/postgres/statement.ts';
import type { SessionStore } from '../../../src/store/session-store.ts';
import type { PostgresDatabase } from '../../support/postgres-server.ts';
import { openTestPostgres } from '../../support/postgres-store.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { newProject, recordOf, search, snippets, turnReply } from '../store-samples.ts';
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
    expect((await rowsOf<{ bytes: number }>(queued))[0]?.bytes).toBeLessThanOrEqual(1024 * 1024);
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

test('the hits of a search are planned for its words each time, however often it is asked', async () => {
  const { host, port, user, database } = {
    host: '127.0.0.1',
    port: server.port,
    user: server.user,
    database: server.database,
  };
  const { schema, store } = await openPlace();
  await begin(store, await newProject(store), { content: 'a fox here' });
  const pool = new ConnectionPool({
    connect: () => connect([{ host, port, user, database }], { name: 'test', acceptsLoss: true }),
    ...{ name: 'test', schema, size: 1, patienceMs: 1000, prepare: true, random: Math.random },
  });
  const filter = {
    terms: [{ text: 'fox', prefix: false }],
    matching: 'words',
    limit: 10,
    after: null,
  } as const;
  for (let times = 0; times < 8; times += 1) {
    const indexed = { project: 1, messages: 1, unindexed: true };
    const reads = searchReads(pool.ask, storeRules, indexed, filter);
    expect(await reads.hits(10)).toHaveLength(1);
  }
  const prepared = await pool.ask<{ text: string }>(
    statement('SELECT statement AS text FROM pg_prepared_statements'),
  );
  await pool.close();
  expect(prepared.length).toBeGreaterThan(0);
  expect(prepared.filter(({ text }) => text.includes('@@'))).toEqual([]);
});
