// Why a store in PostgreSQL is refused, and how it is made when many servers open it first at the same moment.
import pg from 'pg';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ParleyError } from '../../../src/service/errors.ts';
import { openPostgresStore, type PostgresStoreOptions } from '../../../src/store/postgres/open.ts';
import { schema } from '../../../src/store/postgres/schema.ts';
import type { PostgresDatabase } from '../../support/postgres-server.ts';
import { openTestPostgres, postgresOptions } from '../../support/postgres-store.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { bareSession } from '../store-samples.ts';

let server: PostgresDatabase;
beforeAll(async () => {
  server = await sharedPostgres();
}, 60_000);

async function refusal(options: Partial<PostgresStoreOptions>): Promise<ParleyError> {
  return openPostgresStore(postgresOptions(server, { patienceMs: 100, ...options })).then(
    () => {
      throw new Error('it was opened');
    },
    (error: ParleyError) => error,
  );
}

const host = () => ({ host: '127.0.0.1', port: server.port, user: server.user, database: server.database });

const later = {
  version: schema.length + 1,
  parleyVersion: '9.9.9',
  sql: `CREATE TABLE parley.migrated (pid integer); INSERT INTO parley.migrated VALUES (pg_backend_pid())`,
};

describe('a database is refused', () => {
  test('that loses commits in a power cut', async () => {
    expect(await refusal({ acceptsLoss: false })).toMatchObject({
      ...{ code: 'STORE_UNSAFE', message: expect.stringContaining('fsync off') },
    });
  });

  test.each(['standard_conforming_strings', 'array_nulls'])(
    'that has %s off for the user',
    async (setting) => {
      await server.rows(`CREATE ROLE without_${setting} LOGIN SUPERUSER`);
      await server.rows(`ALTER ROLE without_${setting} SET ${setting} = off`);
      const hosts = [{ ...host(), user: `without_${setting}` }];
      expect(await refusal({ schema: setting, hosts })).toMatchObject({
        ...{
          code: 'STORE_UNSAFE',
          message: expect.stringContaining(setting),
          hint: expect.stringContaining('on'),
        },
      });
    },
  );

  test('in which the user may not create the tables', async () => {
    await server.rows('CREATE ROLE without_create LOGIN');
    const hosts = [{ ...host(), user: 'without_create' }];
    expect(await refusal({ schema: 'not_created', hosts })).toMatchObject({
      ...{ code: 'STORE_UNSAFE', hint: expect.stringContaining('CREATE on the database') },
    });
  });

  test('that offers no encryption, if the address asks for it', async () => {
    const hosts = [{ ...host(), ssl: { rejectUnauthorized: true } }];
    expect(await refusal({ hosts })).toMatchObject({
      ...{ code: 'CONFIG', message: expect.stringContaining('offers no encryption') },
    });
  });

  test('that accepts no connections, as unavailable', async () => {
    await server.rows('CREATE DATABASE closed_to_all ALLOW_CONNECTIONS false');
    onTestFinished(async () => void (await server.rows('DROP DATABASE closed_to_all')));
    const hosts = [{ ...host(), database: 'closed_to_all' }];
    expect(await refusal({ hosts })).toMatchObject({ code: 'UNAVAILABLE', retryAfter: 1 });
  });

  test.each([
    ['a table meta of another form', 'CREATE TABLE @.meta (id integer)'],
    ['a table of the same name', 'CREATE TABLE @.sessions (id integer)'],
  ])('that contains %s; it stays unchanged', async (name, sql) => {
    const place = name.replaceAll(' ', '_');
    await server.rows(`CREATE SCHEMA ${place}; ${sql.replace('@', place)}`);
    expect(await refusal({ schema: place })).toMatchObject({
      ...{ code: 'STORE_UNSAFE', message: expect.stringContaining(`schema ${place}`) },
    });
    expect(await server.rows(`SELECT 1 FROM pg_tables WHERE schemaname = '${place}'`)).toHaveLength(1);
  });

  test('that does not exist or refuses the user; no message contains the password', async () => {
    const hosts = [{ ...host(), database: 'none', password: 's3cret' }];
    const missing = await refusal({ hosts });
    expect(missing).toMatchObject({ code: 'CONFIG', message: expect.stringContaining('"none"') });
    const nobody = await refusal({ hosts: [{ ...host(), user: 'nobody', password: 's3cret' }] });
    expect(nobody).toMatchObject({ code: 'CONFIG', message: expect.stringContaining('"nobody"') });
    const away = await refusal({ hosts: [{ ...host(), port: 1 }] });
    expect(away).toMatchObject({ code: 'UNAVAILABLE', retryAfter: 1 });
    for (const { message, hint } of [missing, nobody, away]) expect(message + hint).not.toContain('s3cret');
  });

  test('that is older or empty, if the caller asked not to migrate it', async () => {
    const migrations = [...schema, later];
    await openTestPostgres(server, { schema: 'older' });
    for (const name of ['older', 'not_there']) {
      const refused = await refusal({ schema: name, migrations, refusesOlder: true });
      expect(refused).toMatchObject({ code: 'STORE_OLDER', remedy: { kind: 'migrate_store' } });
    }
    const { store } = await openTestPostgres(server, { schema: 'older', refusesOlder: true });
    expect((await store.inspect()).schema_version).toBe(schema.length);
  });

  test('that is older, if its user may not change the tables; the remedy names their owner', async () => {
    await openTestPostgres(server, { schema: 'owned' });
    await server.rows('CREATE ROLE user_of_tables LOGIN');
    await server.rows('GRANT USAGE ON SCHEMA owned TO user_of_tables');
    await server.rows('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA owned TO user_of_tables');
    const hosts = [{ ...host(), user: 'user_of_tables' }];
    const table = { ...later, sql: 'ALTER TABLE parley.sessions ADD COLUMN colour text' };
    expect(await refusal({ schema: 'owned', migrations: [...schema, table], hosts })).toMatchObject({
      code: 'STORE_OLDER',
      remedy: { kind: 'migrate_store', byOwner: true },
    });
    const { store } = await openTestPostgres(server, { schema: 'owned' });
    expect((await store.inspect()).schema_version).toBe(schema.length);
  });

  test('that a newer Parley made; it stays unchanged', async () => {
    const newer = { version: schema.length + 1, parleyVersion: '9.9.9', sql: 'SELECT 1' };
    await openTestPostgres(server, { schema: 'newer', migrations: [...schema, newer] });
    expect(await refusal({ schema: 'newer' })).toMatchObject({
      ...{ code: 'STORE_NEWER', message: expect.stringContaining('9.9.9') },
    });
  });

  test('whose user may not make the tables; the error names the missing right', async () => {
    const { store } = await openTestPostgres(server, { schema: 'given' });
    await store.ping();
    const client = new pg.Client(host());
    await client.connect();
    await client.query('CREATE ROLE guest LOGIN');
    await client.end();
    expect(await refusal({ schema: 'given', hosts: [{ ...host(), user: 'guest' }] })).toMatchObject({
      ...{ code: 'STORE_UNSAFE', hint: expect.stringContaining('grant') },
    });
  });
});

test('the size of a store is that of all its tables', async () => {
  const { store, measures } = await openTestPostgres(server, { schema: 'measured' });
  const [tables] = await server.rows(`
    SELECT sum(pg_total_relation_size(format('%I.%I', schemaname, tablename)::regclass))::integer AS bytes
    FROM pg_tables WHERE schemaname = 'measured'`);
  const { bytes } = await store.inspect();
  expect({ bytes }).toEqual(tables);
  expect(await measures.gauges()).toMatchObject({ bytes });
});

test('of several hosts the first that accepts writes is used', async () => {
  const hosts = [{ ...host(), port: 1 }, { ...host(), host: 'none.invalid' }, host()];
  const { store } = await openTestPostgres(server, { schema: 'second_host', hosts });
  await store.ping();
});

test('twenty stores that open an empty database at once all succeed, and one makes the tables', async () => {
  const opened = await Promise.all(
    Array.from({ length: 20 }, () => openTestPostgres(server, { schema: 'raced', connections: 1 })),
  );
  const reports = await Promise.all(opened.map(({ store }) => store.inspect()));
  expect(new Set(reports.map((report) => report.schema_version))).toEqual(new Set([schema.length]));
  expect(opened.filter(({ migration }) => migration.from === 0)).toHaveLength(1);
});

test('a session of schema 3 keeps its rows as they are, has no settings, and the mode of its last message', async () => {
  const place = { schema: 'without_settings' };
  await openTestPostgres(server, { ...place, migrations: schema.slice(0, 3) });
  const project = 'prj_old';
  await server.rows(
    `INSERT INTO without_settings.projects (project_id, name, created_at) VALUES ('${project}', 'old', 0)`,
  );
  await server.rows(`
    WITH made AS (
      INSERT INTO without_settings.sessions (project, session_id, created_at, updated_at, message_count)
      SELECT id, 'ses_old', 0, 0, 3 FROM without_settings.projects RETURNING id
    )
    INSERT INTO without_settings.messages (session, position, message_id, role, mode, finish_reason, created_at, content)
    SELECT made.id, message.*, 0, 'x' FROM made, (VALUES (0, 'm0', 'user', 'one', NULL),
      (1, 'm1', 'assistant', 'fallback', 'stop'), (2, 'm2', 'user', 'two', NULL)) AS message`);
  const file = () => server.rows(`SELECT pg_relation_filenode('without_settings.sessions') AS file`);
  const before = await file();
  const { store } = await openTestPostgres(server, place);
  expect(await store.findSession(project, 'ses_old')).toMatchObject({ ...bareSession, mode: 'two' });
  expect(await file()).toEqual(before);
});

test('twenty stores that open an older one at once all succeed, and only one migrates it', async () => {
  await openTestPostgres(server, { schema: 'aged' });
  const options = { schema: 'aged', connections: 1, migrations: [...schema, later] };
  const opened = await Promise.all(Array.from({ length: 20 }, () => openTestPostgres(server, options)));
  const changed = opened.filter(({ migration }) => migration.from !== migration.to);
  expect(changed.map(({ migration }) => migration)).toEqual([
    { from: schema.length, to: schema.length + 1, backup: null },
  ]);
  const client = new pg.Client(host());
  await client.connect();
  const { rows } = await client.query('SELECT * FROM aged.migrated');
  await client.end();
  expect(rows).toHaveLength(1);
});

test('a migration may take longer than any call', async () => {
  const slow = { version: schema.length + 1, parleyVersion: '9.9.9', sql: 'SELECT pg_sleep(1.2)' };
  const impatient = { silenceMs: 1000, patienceMs: 1000, connectMs: 3_600_000 };
  const { migration } = await openTestPostgres(server, {
    ...{ schema: 'slow', migrations: [...schema, slow], ...impatient },
  });
  expect(migration.to).toBe(slow.version);
});
