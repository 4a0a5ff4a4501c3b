// Turns that belong to servers: held by their beats, free when a server is gone or has left, with the received part of their replies.
import { beforeAll, describe, expect, test } from 'vitest';
import type { SessionStore, Turn } from '../../../src/store/session-store.ts';
import type { PostgresDatabase } from '../../support/postgres-server.ts';
import { openTestPostgres } from '../../support/postgres-store.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import {
  at,
  firstPage,
  newProject,
  once,
  search,
  startOfTime,
  turnReply,
  turnStart,
} from '../store-samples.ts';
import { begin, contents } from '../turn-steps.ts';

let database: PostgresDatabase;
let places = 0;
let schema: string;
beforeAll(async () => {
  database = await sharedPostgres();
}, 60_000);

interface Timing {
  readonly beatMs: number;
  readonly leaseMs: number;
}

const hour = 3_600_000;
const living: Timing = { beatMs: 50, leaseMs: hour };
/** A server that never beats again, like a killed one. */
const gone: Timing = { beatMs: hour, leaseMs: 20 };

function newPlace(): void {
  places += 1;
  schema = `servers_${places}`;
}

async function openServer(owner: string, timing: Timing) {
  return openTestPostgres(database, { schema, server: { owner, ...timing } });
}

async function openReader(): Promise<SessionStore> {
  return (await openTestPostgres(database, { schema })).store;
}

const ofOwner = (owner: string, ms = hour / 100) => ({ lease: { owner, ms } });

function isFree(store: SessionStore, project: string, turn: Turn, waitMs = 20_000): Promise<boolean> {
  return store.waitForTurn(project, turn, waitMs, new AbortController().signal);
}

describe('a turn of a server', () => {
  test('is held while the server beats, although the lease of the turn is over', async () => {
    newPlace();
    const { store } = await openServer('a', living);
    const { store: other } = await openServer('b', living);
    const project = await newProject(store);
    const turn = await begin(store, project, ofOwner('a', 1));
    expect(await isFree(other, project, turn, 100)).toBe(false);
    const { session_id } = turn;
    expect(await other.beginTurn(project, turnStart({ session_id, ...ofOwner('b') }))).toMatchObject({
      ...{ kind: 'busy', owner: 'a' },
    });
  });

  test('is free when the server has missed its beats, although the lease of the turn is not over', async () => {
    newPlace();
    const { store } = await openServer('a', gone);
    const project = await newProject(store);
    const turn = await begin(store, project, ofOwner('a'));
    const other = await openReader();
    expect(await isFree(other, project, turn)).toBe(true);
    const { session_id } = turn;
    const next = await begin(other, project, { session_id, ...ofOwner('b') });
    expect(next.epoch).toBeGreaterThan(turn.epoch);
    // The server that seemed dead has lost the turn.
    expect(await store.renewTurn(project, turn, hour)).toBe(false);
    expect(await store.endTurn(project, next, turnReply())).toMatchObject({ kind: 'kept' });
  });

  test('is free at once when the server has stopped', async () => {
    newPlace();
    const { store } = await openServer('a', living);
    // A new server takes no turns yet, except those of servers that have stopped.
    const { store: other } = await openServer('b', living);
    const project = await newProject(store);
    const turn = await begin(store, project, ofOwner('a'));
    await store.close();
    expect(await isFree(other, project, turn, 0)).toBe(true);
    expect((await begin(other, project, { session_id: turn.session_id, ...ofOwner('b') })).position).toBe(2);
  });

  test('stays with its server when another one has left', async () => {
    newPlace();
    const { store } = await openServer('a', { beatMs: hour, leaseMs: hour });
    const { store: other } = await openServer('b', living);
    const project = await newProject(store);
    const turn = await begin(store, project, ofOwner('a'));
    await other.close();
    expect(await isFree(await openReader(), project, turn, 0)).toBe(false);
  });

  test('is not taken by a server that has started, or returned, less than a lease ago', async () => {
    newPlace();
    const { store } = await openServer('a', gone);
    const { store: late } = await openServer('b', living);
    const project = await newProject(store);
    const turn = await begin(store, project, ofOwner('a'));
    expect(await isFree(await openReader(), project, turn)).toBe(true);
    const { session_id } = turn;
    expect(await isFree(late, project, turn, 0)).toBe(false);
    expect(await late.beginTurn(project, turnStart({ session_id, ...ofOwner('b') }))).toMatchObject({
      ...{ kind: 'busy', owner: 'a' },
    });
  });
});

describe('the stored parts of a reply whose server was killed', () => {
  async function killedTurn(start: Parameters<typeof begin>[2] = {}) {
    newPlace();
    const { store } = await openServer('a', gone);
    const project = await newProject(store);
    const turn = await begin(store, project, { ...ofOwner('a'), ...start });
    const part = { message_id: 'msg_parts', mode: 'fallback', now: startOfTime + 7 };
    await store.renewTurn(project, turn, hour, { ...part, at: 0, content: 'Once ' });
    await store.renewTurn(project, turn, hour, { ...part, at: 5, content: 'upon' });
    // The answer of the last call was lost, so the part is sent again, with more text.
    await store.renewTurn(project, turn, hour, { ...part, at: 5, content: 'upon a time' });
    const other = await openReader();
    return { store, other, project, turn, session: turn.session_id };
  }

  test('become an interrupted reply when the messages are listed, and not before the turn is free', async () => {
    const { other, project, turn, session } = await killedTurn();
    expect(await isFree(other, project, turn)).toBe(true);
    expect((await other.listMessages(project, session, firstPage))?.items).toMatchObject([
      { role: 'user', content: 'Hello' },
      {
        ...{ message_id: 'msg_parts', position: 1, role: 'assistant', content: 'Once upon a time' },
        ...{ mode: 'fallback', finish_reason: 'interrupted', usage: null, created_at: at(7) },
      },
    ]);
    expect(await other.findSession(project, session)).toMatchObject({ message_count: 2 });
    expect((await search(other, project, 'upon')).items).toMatchObject([
      { session: { session_id: session } },
    ]);
    expect((await begin(other, project, { session_id: session })).position).toBe(2);
  });

  test('become an interrupted reply when the session is taken over, and belong to the history', async () => {
    const { other, project, turn, session } = await killedTurn();
    expect(await isFree(other, project, turn)).toBe(true);
    const next = await begin(other, project, { session_id: session, content: 'Go on' });
    expect((await search(other, project, 'upon')).items).toMatchObject([
      { session: { session_id: session } },
    ]);
    expect(await contents(other, project, session)).toEqual([
      'user: Hello',
      'interrupted: Once upon a time',
      'user: Go on',
    ]);
    expect((await other.history(project, session, next.position, 10)).map(({ content }) => content)).toEqual([
      'Hello',
      'Once upon a time',
    ]);
  });

  test('are replaced by the reply of a repeated turn, or by a longer part', async () => {
    const repeatable = await killedTurn({ idempotencyKey: once('key', 'x') });
    expect(await isFree(repeatable.other, repeatable.project, repeatable.turn)).toBe(true);
    const again = await begin(repeatable.other, repeatable.project, { idempotencyKey: once('key', 'x') });
    expect(again).toMatchObject({ session_id: repeatable.session, message_id: repeatable.turn.message_id });
    await repeatable.other.endTurn(repeatable.project, again, turnReply({ content: 'whole' }));
    expect(await contents(repeatable.other, repeatable.project, repeatable.session)).toEqual([
      'user: Hello',
      'stop: whole',
    ]);

    const { store, other, project, turn, session } = await killedTurn();
    expect(await isFree(other, project, turn)).toBe(true);
    await contents(other, project, session);
    const more = { content: 'Once upon a time there', finish_reason: 'interrupted' as const };
    expect(await store.endTurn(project, turn, turnReply(more))).toMatchObject({ kind: 'kept' });
    const less = { ...turnReply({ content: 'Once', finish_reason: 'interrupted' }), message_id: 'less' };
    expect(await store.endTurn(project, turn, less)).toMatchObject({ kind: 'lost' });
    expect(await contents(other, project, session)).toEqual([
      'user: Hello',
      'interrupted: Once upon a time there',
    ]);
  });

  test('are erased with a purged session', async () => {
    const { other, project, turn, session } = await killedTurn();
    expect(await isFree(other, project, turn)).toBe(true);
    await other.deleteSession(project, session, startOfTime);
    const filter = { projectId: project, deletedBefore: startOfTime + 1 };
    await other.purgeSessions(filter, { expected: 1, keptSince: 0 });
    expect(await database.rows(`SELECT * FROM ${schema}.reply_parts`)).toEqual([]);
  });
});

test('retention goes by the clock of the database, not by that of its server', async () => {
  newPlace();
  const { store } = await openTestPostgres(database, { schema, now: () => Date.now() + hour });
  const time = await (await store.retention()).now();
  expect(Math.abs(time - Date.now())).toBeLessThan(60_000);
});

test('each server knows the number of live servers', async () => {
  newPlace();
  const first = await openServer('a', living);
  expect(first.servers()).toBe(1);
  const second = await openServer('b', living);
  await expect.poll(() => [first.servers(), second.servers()]).toEqual([2, 2]);
  await second.store.close();
  await expect.poll(() => first.servers()).toBe(1);
});
