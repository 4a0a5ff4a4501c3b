// Two calls that meet at one session: a call waits for the row of the session, which another transaction changes meanwhile.
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { storeRules } from '../../../src/local/local-store-rules.ts';
import { connect } from '../../../src/store/postgres/connect.ts';
import { type Ask, ConnectionPool } from '../../../src/store/postgres/connection-pool.ts';
import { importSession } from '../../../src/store/postgres/imports.ts';
import type { PostgresDatabase } from '../../support/postgres-server.ts';
import { openTestPostgres, postgresOptions } from '../../support/postgres-store.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { forkOf, moveOf, sessionOf, turnOf } from '../line-samples.ts';
import { newId, newProject, recordOf, startOfTime, turnReply } from '../store-samples.ts';
import { begin, contents } from '../turn-steps.ts';

let database: PostgresDatabase;
beforeAll(async () => {
  database = await sharedPostgres();
}, 60_000);

async function place() {
  const { store } = await openTestPostgres(database);
  const client = new pg.Client({ host: '127.0.0.1', ...database });
  await client.connect();
  onTestFinished(() => client.end());
  return { store, client, project: await newProject(store) };
}

/** Resolves when a call waits for a lock. */
async function waiting(): Promise<void> {
  const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  await expect.poll(() => database.rows(waits), { timeout: 10_000 }).not.toEqual([]);
}

test('a purge erases a session that was restored, went on and was deleted again while the purge waited for it', async () => {
  const { store, client, project } = await place();
  const session = await sessionOf(store, project, ['one']);
  await store.deleteSession(project, session, startOfTime);
  await client.query('BEGIN');
  await client.query(`UPDATE parley.sessions SET deleted_at = deleted_at WHERE session_id = '${session}'`);
  const filter = { projectId: project, deletedBefore: startOfTime + 10 };
  const purging = store.purgeSessions(filter, { expected: 1, keptSince: 0 });
  await waiting();
  await client.query(`INSERT INTO parley.messages (session, position, message_id, role, content, mode, created_at)
    SELECT id, 2, 'msg_late', 'user', 'two', 'echo', 0 FROM parley.sessions WHERE session_id = '${session}'`);
  await client.query('COMMIT');
  expect(await purging).toMatchObject({ kind: 'purged', report: { sessions: 1, messages: 3 } });
});

test('a fork that meets a redaction has none of the redacted texts', async () => {
  const { store, client, project } = await place();
  const session = await sessionOf(store, project, ['canary']);
  await client.query('BEGIN');
  await client.query(`SELECT 1 FROM parley.messages WHERE message_id IN (
    SELECT message_id FROM parley.messages AS m JOIN parley.sessions AS s ON s.id = m.session
    WHERE session_id = '${session}') FOR UPDATE`);
  const [question] = (await store.listMessages(project, session, { limit: 1, after: null }))?.items ?? [];
  const redactions = await store.redactions();
  const redacting = redactions.redact(project, session, {
    messages: [{ message_id: question?.message_id ?? '', was: 'canary', content: 'x' }],
    changes: {},
  });
  await waiting();
  const fork = forkOf(session);
  const forking = store.forkSession(project, fork, null);
  await Promise.race([forking, new Promise((resolve) => setTimeout(resolve, 500))]);
  await client.query('COMMIT');
  expect(await redacting).toEqual({ kind: 'redacted' });
  expect(await forking).toMatchObject({ kind: 'done' });
  expect(await contents(store, project, fork.newSession.session_id)).toEqual(['user: x', 'stop: CANARY']);
});

test('an import adds nothing to a session whose last turn was replaced after the comparison', async () => {
  const { store, project } = await place();
  const record = recordOf(newId('ses'), ['one', 'ONE', 'two', 'TWO']);
  const { session_id } = record.session;
  const first = { session: { ...record.session, message_count: 2 }, messages: record.messages.slice(0, 2) };
  await store.importSession(project, first, null);
  const { hosts, ...options } = postgresOptions(database);
  const connections = new ConnectionPool({
    ...options,
    size: 1,
    connect: () => connect(hosts, options),
  });
  onTestFinished(() => connections.close());
  const ask: Ask = async (one, values, again) => {
    // The import has compared the messages.
    if (one.text.includes('grown AS')) {
      await store.undoTurn(project, moveOf(session_id));
      await turnOf(store, project, session_id, 'other');
    }
    return connections.ask(one, values, again);
  };
  expect(await importSession(ask, storeRules, project, record)).toBeNull();
  expect(await contents(store, project, session_id)).toEqual(['user: other', 'stop: OTHER']);
});

test('an undo that waits for a redaction hides the redacted text', async () => {
  const { store, client, project } = await place();
  const session = await sessionOf(store, project, ['canary']);
  await client.query('BEGIN');
  await client.query(`UPDATE parley.sessions SET pinned = pinned WHERE session_id = '${session}'`);
  const undoing = store.undoTurn(project, moveOf(session));
  await waiting();
  await client.query(`UPDATE parley.messages SET content = 'x' WHERE session =
    (SELECT id FROM parley.sessions WHERE session_id = '${session}')`);
  await client.query('COMMIT');
  expect(await undoing).toMatchObject({ kind: 'done' });
  const all = await store.listAllMessages(project, session, { limit: 10, after: null });
  expect(all?.items.map(({ content }) => content)).toEqual(['x', 'x']);
});

test('a late reply that waits for a redaction keeps the redacted text as the alternative', async () => {
  const { store, client, project } = await place();
  const turn = await begin(store, project, { lease: { owner: 'owner-1', ms: 1 } });
  const { session_id: session } = turn;
  const part = { message_id: 'msg_part', mode: 'echo', now: startOfTime, at: 0, content: 'canary' };
  await store.renewTurn(project, turn, 1, part);
  await expect.poll(() => contents(store, project, session)).toEqual(['user: Hello', 'interrupted: canary']);
  await client.query('BEGIN');
  await client.query(`UPDATE parley.sessions SET pinned = pinned WHERE session_id = '${session}'`);
  const ending = store.endTurn(project, turn, turnReply({ content: 'a whole reply' }));
  await waiting();
  await client.query(`UPDATE parley.messages SET content = 'x' WHERE content = 'canary'`);
  await client.query('COMMIT');
  expect(await ending).toMatchObject({ kind: 'kept' });
  const all = await store.listAllMessages(project, session, { limit: 10, after: null });
  expect(all?.items.map(({ content }) => content).toSorted()).toEqual(['Hello', 'a whole reply', 'x']);
});
