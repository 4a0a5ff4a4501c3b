// A purge that rewrites the tables: no erased byte is left in the data files of PostgreSQL.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Message } from '../../../src/service/session.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { openTestPostgres } from '../../support/postgres-store.ts';
import { newId, newProject, newSession, once, recordOf, snippets, startOfTime } from '../store-samples.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.stop());

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port: server.port, user: server.user, database: 'postgres' },
  });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const partialIndexes = (schema: string) => `
  SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE (NOT indisvalid OR relname LIKE '%\\_cc%') AND relnamespace = '${schema}'::regnamespace`;

/** The files of tables and indexes that contain the marker. */
async function filesWith(marker: string, client: pg.Client): Promise<readonly string[]> {
  await client.query('CHECKPOINT');
  const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
  const base = join(rows[0]?.data_directory ?? '', 'base');
  const files = readdirSync(base, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(marker));
}

/** A VACUUM waits up to five seconds for a lock to shorten a table that others use. No fact of these tests depends on that. */
function shortenNoTable(schema: string): Promise<unknown> {
  return server.rows(`DO $$ DECLARE own text; BEGIN
    FOR own IN SELECT tablename FROM pg_tables WHERE schemaname = '${schema}' LOOP
      EXECUTE format('ALTER TABLE %I.%I SET (vacuum_truncate = false)', '${schema}', own);
    END LOOP;
  END $$`);
}

/** A store with one deleted session that is full of the marker, and another session without it. */
async function withErasable(schema: string, patienceMs = 3000) {
  const marker = `canary${schema}`;
  const { store } = await openTestPostgres(server, { schema, patienceMs });
  const project = await newProject(store);
  const other = await newSession(store, project, { title: 'kept' });
  const texts = Array.from({ length: 200 }, (_, index) => `${marker} ${index}`);
  const { session, messages } = recordOf(newId('ses'), texts, marker);
  // A long system prompt is stored beside its table.
  const system = `${marker} ${randomBytes(4096).toString('base64')}`;
  const [question, reply] = messages as [Message, Message];
  const hidden = {
    ...reply,
    message_id: newId('msg'),
    content: `${marker} ${randomBytes(4096).toString('base64')}`,
  };
  const undone = { position: 200, undone_at: session.updated_at, content: `${marker} undone` };
  const hidden_messages = [
    { ...hidden, alternative_of: question.message_id },
    { ...question, ...undone, message_id: newId('msg') },
    { ...reply, ...undone, message_id: newId('msg'), position: 201 },
  ];
  const record = {
    session: { ...session, system, parameters: { user: marker }, user: marker },
    messages,
    hidden_messages,
  };
  await store.importSession(project, record, once('import'));
  expect(await snippets(store, project, marker)).not.toEqual([]);
  const client = await connect();
  // PostgreSQL runs this by itself from time to time. Its statistics hold samples of the texts and their words.
  await client.query('ANALYZE');
  await store.deleteSession(project, record.session.session_id, startOfTime);
  const filter = { projectId: null, deletedBefore: startOfTime + 1 };
  return { store, project, other, client, filter, marker };
}

/**
 * Begins a transaction with what a server does that indexes a message of the deleted session: it locks the place of the message in the
 * queue. If the store itself takes that place first, another one is added.
 */
async function lockWaiting(schema: string, client: pg.Client): Promise<[string, number]> {
  const { rows } = await client.query(
    `SELECT id, project FROM ${schema}.sessions WHERE deleted_at IS NOT NULL`,
  );
  const { id, project } = rows[0] as { id: string; project: number };
  const place: [string, number] = [id, 5000];
  const add = `INSERT INTO ${schema}.to_index (project, session, position, bytes) VALUES ($3, $1, $2, 1)`;
  const lock = `SELECT 1 FROM ${schema}.to_index WHERE session = $1 AND position = $2 FOR UPDATE`;
  for (;;) {
    await client.query(add, [...place, project]);
    await client.query('BEGIN');
    if ((await client.query(lock, place)).rowCount === 1) return place;
    await client.query('ROLLBACK');
  }
}

test('leaves no byte in them or in the statistics, and names the places where PostgreSQL keeps bytes', async () => {
  const { store, project, other, client, filter, marker } = await withErasable('anew');
  expect(await filesWith(marker, client)).not.toEqual([]);
  expect(await store.planPurge(filter)).toMatchObject({ sessions: 1, messages: 203 });
  const purge = await store.purgeSessions(filter, { expected: 1, keptSince: 0, rewrites: true });
  expect(purge).toMatchObject({ kind: 'purged', report: { sessions: 1, messages: 203, stored_answers: 1 } });
  const facts = purge.kind === 'purged' ? purge.report.facts : [];
  expect(facts.map(({ name }) => name)).toEqual(['rewritten', 'kept_by_postgresql']);
  expect(await filesWith(marker, client)).toEqual([]);
  expect((await store.findSession(project, other))?.title).toBe('kept');
});

test('without a rewrite leaves no word in the index or in the statistics', async () => {
  const { store, client, filter, marker } = await withErasable('vac');
  const words = async () => {
    const { rows } = await client.query(
      `SELECT attname FROM pg_stats WHERE schemaname = 'vac' AND (most_common_vals::text || ' ' ||
         coalesce(histogram_bounds::text, '') LIKE $1 OR histogram_bounds::text LIKE $1
         OR most_common_elems::text LIKE $1)
       UNION ALL SELECT tablename FROM pg_tables WHERE schemaname = 'vac' AND tablename = 'search'
         AND EXISTS (SELECT 1 FROM vac.search WHERE words::text LIKE $1)`,
      [`%${marker}%`],
    );
    return rows;
  };
  expect(await words()).not.toEqual([]);
  await store.purgeSessions(filter, { expected: 1, keptSince: 0 });
  expect(await words()).toEqual([]);
});

test('of a person leaves no byte of theirs, also of their name in the index of users', async () => {
  const { store, client, marker, project } = await withErasable('person');
  const others = Array.from({ length: 20 }, () => newSession(store, project));
  await Promise.all(others);
  const filter = { projectId: null, user: marker };
  expect(await store.planPurge(filter)).toMatchObject({ sessions: 1, messages: 203 });
  await store.purgeSessions(filter, { expected: 1, keptSince: 0, rewrites: true });
  expect(await (await store.ofUsers()).sessions(filter)).toEqual([]);
  expect(await filesWith(marker, client)).toEqual([]);
});

test('reports a transaction that can still see the rows and so keeps them, and continues after its end', async () => {
  const { store, client, filter, marker } = await withErasable('seen', 200);
  const reader = await connect();
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await reader.query('SELECT count(*) FROM seen.messages');
  const options = { keptSince: 0, rewrites: true };
  await expect(store.purgeSessions(filter, { ...options, expected: 1 })).rejects.toMatchObject({
    code: 'STORE_BUSY',
  });
  expect((await store.planPurge(filter)).unfinished).toBe(true);
  await reader.query('COMMIT');
  await store.purgeSessions(filter, { ...options, expected: 0 });
  expect(await filesWith(marker, client)).toEqual([]);
});

test('leaves no words that a server adds at the moment of the purge', async () => {
  const { store, client, filter } = await withErasable('race');
  const place = await lockWaiting('race', client);
  const purging = store.purgeSessions(filter, { expected: 1, keptSince: 0 });
  const waiting = () =>
    server.rows(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"race"%'`);
  await expect.poll(waiting).toHaveLength(1);
  const words = `INSERT INTO race.search (session, position, created_at, bytes, words) VALUES ($1, $2, 1, 1, 'left')`;
  await client.query(words, place);
  await client.query('DELETE FROM race.to_index WHERE session = $1 AND position = $2', place);
  await client.query('COMMIT');
  expect((await purging).kind).toBe('purged');
  expect(await server.rows(`SELECT session, position FROM race.search WHERE session = ${place[0]}`)).toEqual(
    [],
  );
});

test('of four processes at once all succeed, and leave no index that is not whole', {
  timeout: 60_000,
}, async () => {
  const schema = 'together';
  // PostgreSQL looks for a deadlock after this time, which is a second by default.
  await server.rows(`ALTER ROLE ${server.user} SET deadlock_timeout = '50ms'`);
  onTestFinished(async () => void (await server.rows(`ALTER ROLE ${server.user} RESET deadlock_timeout`)));
  const stores = await Promise.all(
    Array.from({ length: 4 }, () => openTestPostgres(server, { schema, patienceMs: 20_000 })),
  );
  await shortenNoTable(schema);
  // Purges that begin together are the likeliest to wait for each other.
  for (let times = 0; times < 10; times += 1) {
    const purges = stores.map(async ({ store }) => {
      const project = await newProject(store);
      const session = await newSession(store, project);
      await store.deleteSession(project, session, startOfTime);
      const filter = { projectId: project, deletedBefore: startOfTime + 1 };
      return (await store.purgeSessions(filter, { expected: 1, keptSince: 0 })).kind;
    });
    expect(await Promise.all(purges)).toEqual(stores.map(() => 'purged'));
  }
  expect(await server.rows(partialIndexes(schema))).toEqual([]);
});

test('drops the index that a killed one has left', async () => {
  const { store, client, filter } = await withErasable('stopped');
  await shortenNoTable('stopped');
  await client.query('BEGIN');
  await client.query('LOCK TABLE stopped.search IN ROW EXCLUSIVE MODE');
  const purging = store.purgeSessions(filter, { expected: 1, keptSince: 0 });
  const failed = expect(purging).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect.poll(() => server.rows(partialIndexes('stopped')), { timeout: 10_000 }).toHaveLength(1);
  await server.rows(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'REINDEX%"stopped"%'`,
  );
  await failed;
  await client.query('COMMIT');
  expect(await server.rows(partialIndexes('stopped'))).toHaveLength(1);
  await store.purgeSessions(filter, { expected: 0, keptSince: 0 });
  expect(await server.rows(partialIndexes('stopped'))).toEqual([]);
});

test('keys that are too old to be repeated are removed by the first write of a server', async () => {
  const schema = 'swept';
  const { store } = await openTestPostgres(server, { schema });
  const project = await newProject(store);
  const create = (where: typeof store, key: string, keptSince = 0) =>
    where.createSession(
      project,
      { session_id: newId('ses'), title: null, now: startOfTime },
      { ...once(key), keptSince },
    );
  await create(store, 'old');
  const old = () => server.rows(`SELECT key FROM ${schema}.idempotency WHERE key LIKE 'old%'`);
  expect(await old()).toHaveLength(1);
  // More than one statement deletes.
  await server.rows(`INSERT INTO ${schema}.idempotency (project, key, request_hash, answer)
    SELECT project, 'old' || number, request_hash, answer FROM ${schema}.idempotency, generate_series(1, 2500) AS number`);
  const { store: other } = await openTestPostgres(server, { schema });
  await create(other, 'new', Date.now() + 3_600_000);
  await expect.poll(old).toEqual([]);
});

test('after a redaction leaves no byte of the replaced texts in them either', async () => {
  const marker = 'canaryredacted';
  const { store } = await openTestPostgres(server, { schema: 'redacted', patienceMs: 3000 });
  const project = await newProject(store);
  const texts = Array.from({ length: 20 }, (_, index) => `${marker} ${index}`);
  const record = recordOf(newId('ses'), texts, marker);
  await store.importSession(project, record, once('import'));
  expect(await snippets(store, project, marker)).not.toEqual([]);
  const client = await connect();
  await client.query('ANALYZE');
  const { session_id } = record.session;
  const messages = record.messages.map(({ message_id, content: was }) => ({ message_id, was, content: 'x' }));
  const redaction = { messages, changes: { title: 'x' } };
  expect(await (await store.redactions()).redact(project, session_id, redaction)).toEqual({
    kind: 'redacted',
  });
  expect(await filesWith(marker, client)).not.toEqual([]);
  const { facts } = await (await store.redactions()).overwrite({ rewrites: true });
  expect(facts.map(({ name }) => name)).toEqual(['rewritten', 'kept_by_postgresql']);
  expect(await filesWith(marker, client)).toEqual([]);
});

test('that fails at words that a server has just added erases nothing of the session, and the next one erases all', async () => {
  const { store, client, filter } = await withErasable('cut');
  await client.query(`
    CREATE FUNCTION cut.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cut off'; END $$;
    CREATE TRIGGER refuse BEFORE DELETE ON cut.search FOR EACH ROW WHEN (OLD.position = 5000)
      EXECUTE FUNCTION cut.refuse()`);
  const place = await lockWaiting('cut', client);
  const purging = store.purgeSessions(filter, { expected: 1, keptSince: 0 });
  const failed = expect(purging).rejects.toMatchObject({ message: expect.stringContaining('cut off') });
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"cut"%'`;
  await expect.poll(() => server.rows(waiting), { timeout: 10_000 }).toHaveLength(1);
  await client.query('DELETE FROM cut.to_index WHERE session = $1 AND position = $2', place);
  await client.query(
    `INSERT INTO cut.search (session, position, created_at, bytes, words) VALUES ($1, $2, 0, 1, 'late')`,
    place,
  );
  await client.query('COMMIT');
  await failed;
  expect(await store.planPurge(filter)).toMatchObject({ sessions: 1, messages: 203, unfinished: true });
  await client.query('DROP TRIGGER refuse ON cut.search');
  await store.purgeSessions(filter, { expected: 1, keptSince: 0 });
  expect(await server.rows(`SELECT position FROM cut.search WHERE session = ${place[0]}`)).toEqual([]);
});
