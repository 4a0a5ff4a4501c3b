// A store whose database gives no answer for a while, or whose answers get lost: what is sent again, and what is left behind.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Session } from '../../../src/service/session.ts';
import type { PostgresStoreOptions } from '../../../src/store/postgres/open.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { openTestPostgres, postgresOptions } from '../../support/postgres-store.ts';
import { openSilentProxy, type SilentProxy } from '../../support/silent-proxy.ts';
import {
  everySession,
  firstPage,
  newId,
  newKey,
  newProject,
  newSession,
  once,
  startOfTime,
  turnReply,
  turnStart,
} from '../store-samples.ts';
import { begin, contents } from '../turn-steps.ts';

let database: PostgresServer;
beforeAll(async () => {
  database = await startPostgres();
}, 60_000);
afterAll(() => database.stop());

/** Longer than every wait of a test (ms). */
const ever = 3_600_000;
const unavailable = { code: 'UNAVAILABLE', retryAfter: 1 };
const ofOwner = (owner: string) => ({ lease: { owner, ms: ever } });

async function openProxy(): Promise<SilentProxy> {
  const proxy = await openSilentProxy(database.port);
  onTestFinished(() => proxy.close());
  return proxy;
}

function hostOf({ port }: { readonly port: number }) {
  const [host] = postgresOptions(database).hosts;
  return { ...host, port };
}

/** A transaction that has made a statement, until it is released. */
async function hold(statement: string) {
  const client = new pg.Client(hostOf(database));
  client.on('error', () => {});
  await client.connect();
  await client.query(`BEGIN; ${statement}`);
  return { release: () => client.end() };
}

const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;

/** A store that is reached by a proxy, and another that is reached directly. */
async function openTwo(options: Partial<PostgresStoreOptions> = {}) {
  const proxy = await openProxy();
  const hosts = [hostOf(proxy)];
  const quick = { silenceMs: 50, connectMs: 1000 };
  const { store, measures } = await openTestPostgres(database, { hosts, ...quick, ...options });
  const server = { owner: newId('srv'), beatMs: 50, leaseMs: ever };
  const { store: other } = await openTestPostgres(database, { server });
  return { proxy, store, measures, other, project: await newProject(other) };
}

/** The same, where the first is a server that is impatient. */
async function openImpatient(silenceMs = 300) {
  const owner = newId('srv');
  const server = { owner, beatMs: 50, leaseMs: ever };
  return { owner, ...(await openTwo({ server, patienceMs: 1000, silenceMs })) };
}

test('calls outlast a silence of the network, over connections that it has made useless', async () => {
  const { proxy, store, project } = await openTwo({ patienceMs: 20_000 });
  const sessions = [newId('ses'), newId('ses'), newId('ses')];
  const create = (session_id: string) =>
    store.createSession(project, { session_id, title: null, now: startOfTime }, null);
  // Several connections are open, and idle, by then.
  await Promise.all([store.ping(), store.ping(), store.ping(), store.ping()]);
  proxy.fallSilent();
  const before = proxy.connections();
  const created = Promise.all(sessions.map(create));
  // The store has given its connections up, and looks for others.
  await expect.poll(() => proxy.connections()).toBeGreaterThan(before);
  proxy.speak();
  await created;
  for (const session of sessions) expect(await store.findSession(project, session)).not.toBeNull();
});

test('a host that gives no answer does not hold up the next', async () => {
  const silent = await openProxy();
  silent.fallSilent();
  const hosts = [hostOf(silent), hostOf(database)];
  const { store } = await openTestPostgres(database, { schema: 'second', hosts, connectMs: ever });
  await store.ping();
});

test('a transaction that was cut off without a word does not keep others out', async () => {
  const { proxy, store, other, project } = await openTwo({ patienceMs: 20_000, silenceMs: 400 });
  const session = newId('ses');
  await other.createSession(project, { session_id: session, title: null, now: startOfTime }, null);
  const deletion = (from: typeof store) =>
    from.deleteSessions(project, [session], startOfTime, once('delete', session));
  const holder = await hold('SELECT 1 FROM parley.sessions FOR UPDATE');
  const first = deletion(store);
  await expect.poll(() => database.rows(waiting)).not.toEqual([]);
  proxy.fallSilent();
  await holder.release();
  expect(await deletion(other)).toMatchObject({ value: [{ status: 'deleted' }] });
  proxy.speak();
  expect(await first).toMatchObject({ value: [{ status: 'deleted' }] });
});

test('a turn of a server is free for others when its end could not be sent, with the stored part of its reply', async () => {
  const { proxy, store, other, project, owner } = await openImpatient();
  const turn = await begin(store, project, ofOwner(owner));
  const part = { message_id: 'msg_part', mode: 'test', now: startOfTime, at: 0, content: 'Once' };
  await store.renewTurn(project, turn, ever, part);
  proxy.fallSilent();
  await expect(store.endTurn(project, turn, turnReply())).rejects.toMatchObject(unavailable);
  proxy.speak();
  const { session_id } = turn;
  const signal = AbortSignal.timeout(20_000);
  expect(await other.waitForTurn(project, turn, ever, signal)).toBe(true);
  await begin(other, project, { session_id, content: 'And?' });
  expect(await contents(other, project, session_id)).toEqual([
    'user: Hello',
    'interrupted: Once',
    'user: And?',
  ]);
});

test.each([
  ['before', ever],
  ['after', 50],
])(
  'reading or replacing messages %s the first heartbeat after an outage ends no turn of another server',
  async (_, beatMs) => {
    const openServer = async (beats: number) => {
      const proxy = await openProxy();
      const server = { owner: newId('srv'), beatMs: beats, leaseMs: 1000 };
      const quick = { silenceMs: 50, connectMs: 1000, patienceMs: 20_000 };
      const { store } = await openTestPostgres(database, { hosts: [hostOf(proxy)], server, ...quick });
      return { proxy, store, owner: server.owner };
    };
    const { proxy, store, owner } = await openServer(50);
    const reader = await openServer(beatMs);
    const project = await newProject(store);
    const turn = await begin(store, project, ofOwner(owner));
    const part = { message_id: 'msg_part', mode: 'test', now: startOfTime, at: 0, content: 'Once' };
    await store.renewTurn(project, turn, ever, part);
    const bare = await begin(store, project, ofOwner(owner));
    const leaseOf = async (server: string) => {
      const isOver = `SELECT 1 FROM parley.servers WHERE owner = '${server}' AND until < clock_timestamp()`;
      return (await database.rows(isOver)).length > 0 ? 'over' : 'held';
    };
    for (const one of [proxy, reader.proxy]) one.fallSilent();
    for (const one of [owner, reader.owner])
      await expect.poll(() => leaseOf(one), { timeout: 5000 }).toBe('over');
    reader.proxy.speak();
    if (beatMs < ever) await expect.poll(() => leaseOf(reader.owner)).toBe('held');
    expect(await contents(reader.store, project, turn.session_id)).toEqual(['user: Hello']);
    const all = await reader.store.listAllMessages(project, turn.session_id, { limit: 10, after: null });
    expect(all?.items).toHaveLength(1);
    const session = (await reader.store.findSession(project, bare.session_id)) as Session;
    const messages = (await reader.store.listMessages(project, bare.session_id, firstPage))?.items ?? [];
    const imported = { session: { ...session, title: 'imported' }, messages, replaces: { session } };
    expect(await reader.store.importSession(project, imported, null)).toMatchObject({ value: null });
    proxy.speak();
    expect(await store.renewTurn(project, turn, ever)).toBe(true);
  },
);

test('a turn of a server is free for others when its beginning came too late for its caller, also by its key', async () => {
  const { proxy, store, other, project, owner } = await openImpatient(800);
  const key = once('key', 'x');
  const starts = [turnStart(ofOwner(owner)), turnStart({ ...ofOwner(owner), idempotencyKey: key })];
  const holder = await hold('LOCK TABLE parley.sessions IN EXCLUSIVE MODE');
  const refused = Promise.all(
    starts.map((start) => expect(store.beginTurn(project, start)).rejects.toMatchObject(unavailable)),
  );
  await expect.poll(() => database.rows(waiting)).not.toEqual([]);
  // The store cannot cancel the statements that it has sent.
  proxy.fallSilent();
  await refused;
  await holder.release();
  for (const { newSession } of starts)
    await expect.poll(() => other.findSession(project, newSession.session_id)).not.toBeNull();
  proxy.speak();
  for (const { newSession, idempotencyKey: asked } of starts) {
    const { session_id } = newSession;
    const next = turnStart({
      ...(asked === null ? { session_id } : { idempotencyKey: key }),
      ...ofOwner('other'),
    });
    await expect
      .poll(() => other.beginTurn(project, next))
      .toMatchObject({ kind: 'begun', turn: { session_id } });
  }
});

test('a beginning that is sent again when its turn is over stores its message once', async () => {
  const { store, other, project } = await openTwo();
  const { session_id } = await begin(other, project, { lease: { owner: 'gone', ms: 1 } });
  // The answer to it was lost, and another took the session over meanwhile, as from a server that is gone.
  const start = turnStart({ session_id, content: 'And?', lease: { owner: 'late', ms: 1 } });
  await expect.poll(() => store.beginTurn(project, start)).toMatchObject({ kind: 'begun' });
  const next = { session_id, content: 'Still there?', ...ofOwner('other') };
  await expect.poll(() => other.beginTurn(project, turnStart(next))).toMatchObject({ kind: 'begun' });
  const expected = ['user: Hello', 'interrupted: ', 'user: And?', 'interrupted: ', 'user: Still there?'];
  const again = await store.beginTurn(project, start);
  expect(again).toMatchObject({ kind: 'begun', turn: { message_id: start.message_id, position: 2 } });
  expect(await contents(other, project, session_id)).toEqual(expected);
  if (again.kind !== 'begun') return;
  expect(await store.renewTurn(project, again.turn, ever)).toBe(false);
  await expect(store.endTurn(project, again.turn, turnReply())).resolves.toMatchObject({ kind: 'kept' });
  expect((await contents(other, project, session_id))[3]).toBe('stop: Hello to you');
});

test('a beginning that arrives when its turn has ended changes nothing', async () => {
  const { store, other, project } = await openTwo();
  const { session_id, ...turn } = await begin(other, project);
  await other.endTurn(project, { session_id, ...turn }, turnReply());
  const start = turnStart({ session_id, content: 'And?' });
  const begun = await begin(store, project, start);
  await store.endTurn(project, begun, turnReply());
  const before = await contents(other, project, session_id);
  await store.beginTurn(project, start);
  expect(await contents(other, project, session_id)).toEqual(before);
  expect(await store.findSession(project, session_id)).toMatchObject({ message_count: 4 });
  await begin(other, project, { session_id });
});

test('a deletion whose key is revoked before the statement runs deletes nothing', async () => {
  const { other } = await openTwo();
  const key = newKey();
  const { project_id: project } = await other.createKey(key);
  const session = await newSession(other, project);
  const holder = await hold('LOCK TABLE parley.sessions IN EXCLUSIVE MODE');
  const deletion = other.deleteSession(project, session, startOfTime, undefined, key.hash);
  const refused = expect(deletion).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
  await expect.poll(() => database.rows(waiting)).not.toEqual([]);
  await other.revokeKey(key.key_id, startOfTime);
  await holder.release();
  await refused;
  expect(await other.findSession(project, session)).toMatchObject({ session_id: session });
});

test('a call that arrives late is not done any more once it was sent again', async () => {
  const { proxy, store, other, project } = await openTwo({ patienceMs: 20_000 });
  const session = newId('ses');
  await other.createSession(project, { session_id: session, title: null, now: startOfTime }, null);
  await store.ping();
  const before = proxy.connections();
  proxy.fallSilent();
  const renamed = store.changeSession(project, session, { title: 'older' });
  await expect.poll(() => proxy.connections()).toBeGreaterThan(before);
  proxy.speak();
  await renamed;
  await other.changeSession(project, session, { title: 'newer' });
  await proxy.deliver();
  expect(await other.findSession(project, session)).toMatchObject({ title: 'newer' });
});

test('a store is not ready while its database gives no answer, and has no size, however patient its calls are', async () => {
  const { proxy, store, measures } = await openTwo({ patienceMs: ever });
  await store.ping();
  proxy.fallSilent();
  await expect(store.ping()).rejects.toMatchObject(unavailable);
  await expect(measures.gauges()).rejects.toMatchObject(unavailable);
  proxy.speak();
  await store.ping();
});

test('a server holds its turns while all its other calls wait for a lock', async () => {
  const owner = newId('srv');
  const server = { owner, beatMs: 50, leaseMs: 800 };
  const { store } = await openTestPostgres(database, { server, connections: 2, silenceMs: ever });
  const holder = await hold('LOCK TABLE parley.projects IN ACCESS EXCLUSIVE MODE');
  const calls = Array.from({ length: 4 }, () => store.listSessions('prj_none', everySession()));
  await expect.poll(() => database.rows(waiting)).not.toEqual([]);
  await delay(1600);
  const lease = `SELECT until > clock_timestamp() AS is_held FROM parley.servers WHERE owner = '${owner}'`;
  expect(await database.rows(lease)).toEqual([{ is_held: true }]);
  await holder.release();
  await Promise.all(calls);
});
