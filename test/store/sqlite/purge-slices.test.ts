// Other processes wait for at most one slice of a purge, and never see a half-erased session.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { Connection } from '../../../src/store/sqlite/connection.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { planPurge, purgeSessions } from '../../../src/store/sqlite/purge.ts';
import { Writer } from '../../../src/store/sqlite/writer.ts';
import { betterSqlite3 } from '../../support/driver.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { newProject, newSession } from '../store-samples.ts';

const filter = { projectId: null, deletedBefore: 100 };
const options = { expected: 251, keptSince: 0 };

/** 250 deleted sessions of one message, a deleted one of 1,000 messages, and an active one of 1,000; all are in the indexes. */
async function storeToPurge(): Promise<string> {
  const directory = temporaryDirectory();
  const path = join(directory, 'parley.db');
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  const active = await newSession(store, project);
  await store.close();
  const add = (sessions: string) => `
    INSERT INTO messages (session, position, message_id, role, mode, created_at, content)
      WITH numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 999)
      SELECT id, n, 'msg_' || n, 'user', 'echo', 1, 'canary ' || n || ' ' || id FROM sessions JOIN numbers
      WHERE ${sessions} AND n < message_count ORDER BY id, n;`;
  lookInto(path, (database) =>
    database.exec(`
      BEGIN;
      UPDATE sessions SET message_count = 1000 WHERE session_id = '${active}';
      INSERT INTO sessions (session_id, project, created_at, updated_at, deleted_at, message_count)
        WITH numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 250)
        SELECT 'ses_' || n, project, 1, 1, 1, iif(n = 100, 1000, 1) FROM numbers JOIN sessions
        WHERE session_id = '${active}';
      ${add('TRUE')}
      DELETE FROM search_waiting;
      ${[0, 1, 2, 3, 4].map((part) => `INSERT INTO message_words (rowid, content, owner) SELECT id, content, owner FROM message_words_source WHERE id % 5 = ${part}; COMMIT; BEGIN;`).join('\n')}
      COMMIT;`),
  );
  return path;
}

/** Opens the store so that the statements of each transaction are recorded. */
function toolsFor(path: string) {
  const transactions: string[][] = [];
  const database = new Database(path, {
    timeout: 0,
    verbose: (sql) => {
      const text = String(sql).trim();
      if (text === 'BEGIN IMMEDIATE') transactions.push([]);
      else transactions.at(-1)?.push(text);
    },
  });
  onTestFinished(() => {
    database.close();
  });
  const connection = new Connection(betterSqlite3, database, path);
  const wait = { waitMs: 5000, random: Math.random };
  const clocks = () => ({ now: 1000, clock: 1000 });
  const audit = () => {};
  return { transactions, tools: { connection, writer: new Writer(connection, wait), wait, clocks, audit } };
}

it('a transaction of a purge erases at most a hundred messages or sessions, or merges some pages of an index', async () => {
  const path = await storeToPurge();
  const { transactions, tools } = toolsFor(path);
  expect(await purgeSessions(tools, filter, options)).toMatchObject({
    kind: 'purged',
    report: { sessions: 251, messages: 1250, integrity: 'ok' },
  });
  const max = (pattern: RegExp) =>
    Math.max(...transactions.map((statements) => statements.filter((sql) => pattern.test(sql)).length));
  const all = transactions.flat();
  const erasures = /^DELETE FROM (messages|sessions)/;
  expect(all.filter((sql) => erasures.test(sql)).length).toBeGreaterThan(1250);
  expect(max(/^DELETE FROM messages/)).toBeLessThanOrEqual(100);
  expect(max(/^DELETE FROM sessions/)).toBeLessThanOrEqual(100);
  expect(all.some((sql) => /'merge', -\d+/.test(sql))).toBe(true);
  expect(max(/'merge'/)).toBe(1);
  expect(all.filter((sql) => sql.includes("'optimize'"))).toEqual([]);
  const left = lookInto(path, (other) =>
    other.prepare('SELECT project > 0, message_count FROM sessions').raw().all(),
  );
  expect(left).toEqual([[1, 1000]]);
});

it('while a purge erases, other connections write, and see each session whole or not at all', async () => {
  const path = await storeToPurge();
  const { tools } = toolsFor(path);
  const other = new Database(path);
  onTestFinished(() => {
    other.close();
  });
  const seen: number[] = [];
  const look = () => {
    const rows = other
      .prepare(
        `SELECT message_count, (SELECT count(*) FROM messages WHERE session = sessions.id) AS found
         FROM sessions WHERE project > 0`,
      )
      .all() as { message_count: number; found: number }[];
    for (const { message_count, found } of rows) expect(found).toBe(message_count);
    if (seen.at(-1) === rows.length) return;
    other.exec(`UPDATE projects SET name = 'name ${seen.length}' WHERE id > 0`);
    seen.push(rows.length);
  };
  let isOver = false;
  const purge = purgeSessions(tools, filter, options).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    look();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await purge).toMatchObject({ kind: 'purged' });
  expect(seen.length).toBeGreaterThan(3);
  expect(seen[0]).toBe(252);
});

it('what a purge leaves that was cut within a long session is erased by the next purge', async () => {
  const path = await storeToPurge();
  const { tools } = toolsFor(path);
  // What is committed, seen by the library of the purge: two libraries must not open one file.
  const other = new Database(path);
  onTestFinished(() => {
    other.close();
  });
  const clocks = () => {
    if (other.prepare('SELECT 1 FROM imports').get() !== undefined) throw new Error('cut');
    return tools.clocks();
  };
  await expect(purgeSessions({ ...tools, clocks }, filter, options)).rejects.toThrow('cut');
  const { sessions, unfinished } = planPurge(tools.connection, filter, 1000);
  expect(unfinished).toBe(true);
  await purgeSessions(tools, filter, { ...options, expected: sessions });
  expect(tools.connection.all('SELECT session_id FROM sessions WHERE project = 0')).toEqual([]);
  expect(tools.connection.get('SELECT count(*) AS messages FROM messages')).toEqual({ messages: 1000 });
});

it('a purge beside an import that may have been cut is unfinished, so the next one overwrites what the import leaves', async () => {
  const path = await storeToPurge();
  const { tools } = toolsFor(path);
  const { connection } = tools;
  connection.execute(
    'INSERT INTO imports (session, project, held_until) SELECT min(id), 1, 60000 FROM sessions',
  );
  await purgeSessions(tools, filter, { ...options, expected: planPurge(connection, filter, 1000).sessions });
  expect(planPurge(connection, filter, 1000).unfinished).toBe(true);
  connection.execute('DELETE FROM imports');
  await purgeSessions(tools, filter, { ...options, expected: 0 });
  expect(planPurge(connection, filter, 1000).unfinished).toBe(false);
});
