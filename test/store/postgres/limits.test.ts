// The limits that a database sets for its user: connections, time of a statement, writes. A call that meets a limit fails with an error that names
// the limit and leaves nothing half done. It succeeds again when the limit is lifted, over the same store.
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { PostgresStoreOptions } from '../../../src/store/postgres/open.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { openTestPostgres, postgresOptions } from '../../support/postgres-store.ts';
import { everySession, newProject, newSession } from '../store-samples.ts';
import { begin, contents } from '../turn-steps.ts';

let database: PostgresServer;
let roles = 0;
beforeAll(async () => {
  database = await startPostgres();
}, 60_000);
afterAll(() => database.stop());

/** Longer than a test may take. */
const ever = 3_600_000;

/** A store of a user of its own, whose limits `limit` sets, and a project in it. */
async function openLimited(options: Partial<PostgresStoreOptions> = {}) {
  roles += 1;
  const role = `limited_${roles}`;
  const schema = role;
  await database.rows(`CREATE ROLE ${role} LOGIN SUPERUSER`);
  const [host] = postgresOptions(database).hosts;
  const hosts = [{ ...host, user: role }];
  const { store } = await openTestPostgres(database, { schema, hosts, patienceMs: 300, ...options });
  const limit = async (what: string) => {
    await database.rows(`ALTER ROLE ${role} ${what}`);
    // The limits of a user are those of its next connection.
    await database.rows(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);
  };
  return { store, limit, schema, hosts, project: await newProject(store) };
}

/** A transaction that has made a statement, until it is released. */
async function hold(statement: string) {
  const client = new pg.Client(postgresOptions(database).hosts[0]);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`BEGIN; ${statement}`);
  return { release: () => client.query('ROLLBACK') };
}

test('a write that statement_timeout stops names it, leaves nothing, and is done when it is fast enough', async () => {
  const { store, limit, schema, project } = await openLimited();
  const session = await newSession(store, project, { title: 'before' });
  await limit('SET statement_timeout = 1000');
  const held = await hold(`LOCK TABLE ${schema}.sessions IN EXCLUSIVE MODE`);
  await expect(store.changeSession(project, session, { title: 'after' })).rejects.toMatchObject({
    ...{ code: 'UNAVAILABLE', retryAfter: 1, message: expect.stringContaining('stopped a statement') },
    hint: expect.stringContaining('statement_timeout'),
  });
  expect(await database.rows(`SELECT title FROM ${schema}.sessions`)).toEqual([{ title: 'before' }]);
  await held.release();
  const renamed = () =>
    store.changeSession(project, session, { title: 'after' }).catch((error: Error) => error.message);
  await expect.poll(renamed).toMatchObject({ title: 'after' });
});

test('a write that statement_timeout stops is sent again within the patience of the store, a read is not', async () => {
  const { store, limit, schema, project } = await openLimited({ patienceMs: ever });
  const session = await newSession(store, project);
  await limit('SET statement_timeout = 200');
  const held = await hold(`LOCK TABLE ${schema}.sessions IN ACCESS EXCLUSIVE MODE`);
  const renamed = store.changeSession(project, session, { title: 'after' });
  await expect(store.listSessions(project, everySession())).rejects.toMatchObject({
    ...{ code: 'UNAVAILABLE', hint: expect.stringContaining('statement_timeout') },
  });
  await held.release();
  expect(await renamed).toMatchObject({ title: 'after' });
});

test('default_transaction_read_only stops writes with its name in the error, and no reads; without it writes continue', async () => {
  const { store, limit, schema, hosts, project } = await openLimited();
  const turn = await begin(store, project);
  await limit('SET default_transaction_read_only = on');
  const readOnly = {
    ...{ code: 'UNAVAILABLE', retryAfter: 1, message: expect.stringContaining('takes no writes') },
    hint: expect.stringContaining('default_transaction_read_only'),
  };
  await expect(begin(store, project)).rejects.toMatchObject(readOnly);
  await expect(store.ping()).rejects.toMatchObject(readOnly);
  expect(await contents(store, project, turn.session_id)).toEqual(['user: Hello']);
  const late = openTestPostgres(database, { schema, hosts, patienceMs: 0, server: { owner: 'late' } });
  await expect(late).rejects.toMatchObject(readOnly);
  // Another of several hosts may take writes.
  const others = [...hosts, ...postgresOptions(database).hosts];
  const { store: other } = await openTestPostgres(database, { schema, hosts: others });
  await other.ping();
  await database.rows(`ALTER ROLE ${schema} RESET default_transaction_read_only`);
  await store.ping();
  expect((await begin(store, project, { session_id: null })).position).toBe(0);
});

test('with fewer connections than a store may open, calls wait for those that there are', async () => {
  const { store, limit, project } = await openLimited({ patienceMs: 60_000 });
  const session = await newSession(store, project);
  await limit('NOSUPERUSER CONNECTION LIMIT 1');
  await database.rows(`GRANT ALL ON SCHEMA limited_${roles} TO limited_${roles}`);
  const calls = Array.from({ length: 300 }, async (_, number) => {
    if (number % 3 === 0) return store.changeSession(project, session, { title: `title ${number}` });
    if (number % 3 === 1) return store.findSession(project, session);
    return store.listSessions(project, everySession());
  });
  expect((await Promise.all(calls)).filter((result) => result === null)).toEqual([]);
});

test('a store without a free connection says so, and continues when there is one', async () => {
  const { store, limit, schema, project } = await openLimited();
  await limit('NOSUPERUSER CONNECTION LIMIT 0');
  await expect(store.listKeys()).rejects.toMatchObject({
    ...{ code: 'UNAVAILABLE', retryAfter: 1, message: expect.stringContaining('no connection free') },
    hint: expect.stringContaining('fewer connections'),
  });
  await database.rows(`ALTER ROLE ${schema} CONNECTION LIMIT -1`);
  expect(await store.holdsAny(project, ['ses_none'])).toBe(false);
});

test('a call that gives up at a lock is not done later, and leaves no process of the database waiting', async () => {
  const { store, schema, project } = await openLimited({ silenceMs: 200 });
  const session = await newSession(store, project, { title: 'before' });
  const held = await hold(`LOCK TABLE ${schema}.sessions IN ACCESS EXCLUSIVE MODE`);
  const change = (title: string) =>
    expect(store.changeSession(project, session, { title })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await Promise.all([change('one'), change('two')]);
  const waiting = `SELECT pid FROM pg_stat_activity WHERE usename = '${schema}' AND wait_event_type = 'Lock'`;
  await expect.poll(() => database.rows(waiting)).toEqual([]);
  await held.release();
  expect(await store.findSession(project, session)).toMatchObject({ title: 'before' });
});

test('while the database refuses the login, calls use the connections that are open', async () => {
  const { store, schema, project } = await openLimited();
  const session = await newSession(store, project);
  await database.rows(`ALTER ROLE ${schema} NOLOGIN`);
  const calls = Array.from({ length: 20 }, () => store.listSessions(project, everySession()));
  const pages = await Promise.all(calls);
  expect(new Set(pages.flatMap(({ items }) => items.map(({ session_id }) => session_id)))).toEqual(
    new Set([session]),
  );
});

test('a database that refuses a login which it accepted before is unavailable, and says why', async () => {
  const { store, limit, schema } = await openLimited();
  await limit('NOLOGIN');
  await expect(store.listKeys()).rejects.toMatchObject({
    ...{ code: 'UNAVAILABLE', retryAfter: 1, message: expect.stringContaining('is not permitted to log in') },
  });
  await database.rows(`ALTER ROLE ${schema} LOGIN`);
  expect(await store.holdsAny('prj_none', ['ses_none'])).toBe(false);
});
