// A store behind a pooler in transaction mode, which gives each transaction another connection to the database. Of the suites of a store,
// those that can differ there: of transactions of several statements (imports with a key), of statements that no transaction may hold
// (purges), and of two stores that meet the same prepared statements on one connection. postgres-store.long.ts runs all of them.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ParleyError } from '../../../src/service/errors.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { hasPooler, type Pooler, startPooler } from '../../support/pooler.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { openTestPostgres, placesIn, postgresOptions } from '../../support/postgres-store.ts';
import { describeHandles } from '../handles-suite.ts';
import { describeImports } from '../import-suite.ts';
import { describePurges } from '../purge-suite.ts';
import { newProject, newSession } from '../store-samples.ts';

describe.skipIf(!hasPooler)('behind a pooler', () => {
  let server: PostgresServer;
  let pooler: Pooler;
  beforeAll(async () => {
    server = await startPostgres();
    pooler = await startPooler(server);
  }, 60_000);
  afterAll(async () => {
    pooler.close();
    await server.stop();
  });

  const newPlace = placesIn(() => pooler);
  describeHandles('the PostgreSQL store', newPlace);
  describeImports('the PostgreSQL store', async () => (await newPlace()).open());
  describePurges('the PostgreSQL store', async () => (await newPlace()).open());

  it('statements are prepared until the pooler has lost one, and then no more; none fails', async () => {
    const { store } = await openTestPostgres(pooler, { schema: 'prepared' });
    const project = await newProject(store);
    const sessions = await Promise.all(Array.from({ length: 50 }, () => newSession(store, project)));
    const renamed = sessions.map((id, number) =>
      store.changeSession(project, id, { title: `title ${number}` }),
    );
    expect((await Promise.all(renamed)).map((session) => session?.title)).toEqual(
      sessions.map((_, number) => `title ${number}`),
    );
  });

  it('calls wait for each other where the pooler has fewer connections than stores ask for', async () => {
    const small = await startPooler(server, 2, ['max_client_conn = 5']);
    try {
      const options = { schema: 'few', patienceMs: 60_000 };
      const [one, two] = [await openTestPostgres(small, options), await openTestPostgres(small, options)];
      const project = await newProject(one.store);
      const made = await Promise.all(
        Array.from({ length: 300 }, (_, number) => newSession((number % 2 === 0 ? one : two).store, project)),
      );
      expect(await one.store.holdsAny(project, made)).toBe(true);
      const late = openTestPostgres(small, { ...options, patienceMs: 0 });
      await late.catch((error: unknown) =>
        expect(error).toMatchObject({
          code: 'UNAVAILABLE',
          message: expect.stringContaining('no connection free'),
        }),
      );
    } finally {
      small.close();
    }
  });

  it('a call that gives up at a lock is not done later, and leaves no process of the database waiting', async () => {
    const options = { schema: 'locked', silenceMs: 200, patienceMs: 300 };
    const { store } = await openTestPostgres(pooler, options);
    const project = await newProject(store);
    const session = await newSession(store, project, { title: 'before' });
    const holder = new pg.Client(postgresOptions(server).hosts[0]);
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE locked.sessions IN ACCESS EXCLUSIVE MODE');
    const change = (title: string) =>
      expect(store.changeSession(project, session, { title })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await Promise.all([change('one'), change('two')]);
    const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
    await expect.poll(() => server.rows(waiting)).toEqual([]);
    await holder.end();
    expect(await store.findSession(project, session)).toMatchObject({ title: 'before' });
  });

  it('a user whom the pooler refuses is told so at once', async () => {
    const hosts = [{ host: '127.0.0.1', port: pooler.port, user: 'nobody', database: 'postgres' }];
    const refusal = await openPostgresStore({
      ...postgresOptions(pooler, { hosts }),
      patienceMs: 60_000,
    }).then(
      () => null,
      (error: ParleyError) => error,
    );
    expect(refusal).toMatchObject({ code: 'CONFIG', message: expect.stringContaining('authentication') });
  });
});
