// Turns over PostgreSQL while it fails: what was acknowledged is stored once, and no call fails for an outage that is shorter than the
// patience of a store. The long form is scripts/chaos-postgres.js.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import { newId, newProject, once, turnReply, turnStart } from '../store/store-samples.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { openTestPostgres, postgresOptions } from '../support/postgres-store.ts';
import { openSilentProxy } from '../support/silent-proxy.ts';

const callers = 16;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres([]);
}, 60_000);
afterAll(() => server.stop());

interface SentTurn {
  readonly project: string;
  readonly session: string;
  readonly message: string;
  readonly reply: string;
}

/** Chats in sessions of its own until it is stopped. Every second turn has an idempotency key and is sent twice. */
async function talk(
  store: SessionStore,
  project: string,
  isOver: () => boolean,
): Promise<readonly SentTurn[]> {
  const turns: SentTurn[] = [];
  for (let number = 0; !isOver(); number += 1) {
    const session = newId('ses');
    if (number % 3 === 0) {
      await store.createSession(project, { session_id: session, title: null, now: Date.now() }, null);
      expect(await store.findSession(project, session)).not.toBeNull();
    }
    const key = number % 2 === 0 ? null : once(newId('key'), session);
    const session_id = number % 3 === 0 ? session : null;
    const start = turnStart({
      session_id,
      newSession: { session_id: session, title: 'x' },
      idempotencyKey: key,
    });
    const begun = await store.beginTurn(project, start);
    if (begun.kind !== 'begun') throw new Error(`the turn is ${begun.kind}`);
    const reply = turnReply({ content: `reply of ${session}` });
    expect(await store.endTurn(project, begun.turn, reply)).toEqual({ kind: 'kept', message_count: 2 });
    if (key !== null) {
      const again = await store.beginTurn(project, { ...start, message_id: newId('msg') });
      expect(again).toMatchObject({ kind: 'answered', reply: { message_id: reply.message_id } });
    }
    turns.push({ project, session, message: start.message_id, reply: reply.message_id });
  }
  return turns;
}

test('connections cut ten times a second, a crash, a silent network: nothing failed, lost or doubled', async () => {
  const proxy = await openSilentProxy(server.port);
  onTestFinished(() => proxy.close());
  const hosts = postgresOptions(server).hosts.map((host) => ({ ...host, port: proxy.port }));
  const patience = { hosts, patienceMs: 20_000, silenceMs: 300, acceptsLoss: false };
  const stores = await Promise.all([1, 2].map(async () => (await openTestPostgres(server, patience)).store));
  const projects = await Promise.all(
    Array.from({ length: callers }, () => newProject(stores[0] as SessionStore)),
  );
  let isOver = false;
  const talking = projects.map((project, index) =>
    talk(stores[index % 2] as SessionStore, project, () => isOver),
  );
  for (let cuts = 0; cuts < 10; cuts += 1) {
    await delay(100);
    await cutAll();
  }
  await server.crash(300);
  await delay(500);
  proxy.fallSilent();
  await delay(500);
  proxy.speak();
  await delay(500);
  isOver = true;
  const turns = (await Promise.all(talking)).flat();
  expect(turns.length).toBeGreaterThan(callers);
  const reader = stores[1] as SessionStore;
  for (const { project, session, message, reply } of turns) {
    const page = await reader.listMessages(project, session, { limit: 10, after: null });
    expect(page?.items.map(({ message_id }) => message_id)).toEqual([message, reply]);
    expect((await reader.findSession(project, session))?.message_count).toBe(2);
  }
  const counts = await Promise.all(projects.map((project) => countOf(reader, project)));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(turns.length);
}, 60_000);

function cutAll(): Promise<unknown> {
  return server.rows(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parley'`,
  );
}

async function countOf(store: SessionStore, projectId: string): Promise<number> {
  let count = 0;
  let after: { time: number; sessionId: string } | null = null;
  for (;;) {
    const page = await store.listSessions(projectId, {
      ...{ limit: 200, after, titleMatch: null, idSuffix: null, deleted: false },
      ...{ updatedBefore: null, updatedAfter: null, mode: null, tag: null, pinned: null, archived: null },
      user: null,
      ...{ sort: 'created', order: 'asc' },
    });
    count += page.items.length;
    const last = page.items.at(-1);
    if (!page.hasMore || last === undefined) return count;
    after = { time: Date.parse(last.created_at), sessionId: last.session_id };
  }
}
