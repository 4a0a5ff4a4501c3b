// Other replies, undone turns and forks in PostgreSQL: what several stores do at once, what is sent again after a lost answer, and what a
// killed server leaves of a reply.
import pg from 'pg';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { SessionStore } from '../../../src/store/session-store.ts';
import type { PostgresDatabase } from '../../support/postgres-server.ts';
import { openTestPostgres, postgresOptions } from '../../support/postgres-store.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { openSilentProxy } from '../../support/silent-proxy.ts';
import { beginAnother, forkOf, kinds, moveOf, regeneration, sessionOf, turnOf } from '../line-samples.ts';
import { newId, newProject, once, startOfTime, turnReply, turnStart } from '../store-samples.ts';
import { begin, contents } from '../turn-steps.ts';

let database: PostgresDatabase;
beforeAll(async () => {
  database = await sharedPostgres();
}, 60_000);

const hour = 3_600_000;
const everything = { limit: 200, after: null };

/** The messages outside of the visible line. */
async function hiddenOf(store: SessionStore, project: string, session: string): Promise<readonly string[]> {
  return (await kinds(store, project, session)).filter((kind) => /^(alternative|undone) /.test(kind));
}

/** A store that is reached by a proxy, and another that is reached directly. */
async function openTwo() {
  const proxy = await openSilentProxy(database.port);
  onTestFinished(() => proxy.close());
  const [host] = postgresOptions(database).hosts;
  const hosts = [{ ...host, host: '127.0.0.1', port: proxy.port, user: database.user }];
  const { store } = await openTestPostgres(database, {
    hosts,
    silenceMs: 300,
    connectMs: 1000,
    patienceMs: 20_000,
  });
  const { store: other } = await openTestPostgres(database);
  return { proxy, store, other, project: await newProject(other) };
}

/** Sends a call that is carried out and whose answer is lost, so that the store sends it again. */
async function losingItsAnswer<T>(
  { proxy, other, project }: Awaited<ReturnType<typeof openTwo>>,
  session: string,
  call: () => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ host: '127.0.0.1', ...database });
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE parley.sessions IN EXCLUSIVE MODE`);
  const sent = call();
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  await expect.poll(() => database.rows(waiting)).not.toEqual([]);
  proxy.fallSilent();
  const before = await other.findSession(project, session);
  await client.end();
  await expect.poll(() => database.rows(waiting)).toEqual([]);
  expect(before).not.toBeNull();
  proxy.speak();
  return sent;
}

describe('a call whose answer was lost is done once', () => {
  test.each([null, 'key'])('an undo, with the key %s', async (key) => {
    const two = await openTwo();
    const { store, other, project } = two;
    const session = await sessionOf(other, project, ['one', 'two', 'three']);
    await store.findSession(project, session);
    const keyed = { idempotencyKey: key === null ? null : once(`${key} ${session}`) };
    const end = await losingItsAnswer(two, session, () => store.undoTurn(project, moveOf(session, keyed)));
    expect(end).toMatchObject({
      kind: 'done',
      value: { message: { content: 'three' }, session: { message_count: 4 } },
    });
    expect(await hiddenOf(other, project, session)).toEqual(['undone THREE', 'undone three']);
  });

  test('a redo', async () => {
    const two = await openTwo();
    const { store, other, project } = two;
    const session = await sessionOf(other, project, ['one', 'two', 'three']);
    for (let turns = 0; turns < 2; turns += 1) await other.undoTurn(project, moveOf(session));
    await store.findSession(project, session);
    const end = await losingItsAnswer(two, session, () => store.redoTurn(project, moveOf(session)));
    expect(end).toMatchObject({
      kind: 'done',
      value: { message: { content: 'two' }, session: { message_count: 4 } },
    });
    expect(await hiddenOf(other, project, session)).toEqual(['undone THREE', 'undone three']);
  });

  test('a fork', async () => {
    const two = await openTwo();
    const { store, other, project } = two;
    const session = await sessionOf(other, project, ['one']);
    await store.findSession(project, session);
    const fork = forkOf(session);
    const end = await losingItsAnswer(two, session, () => store.forkSession(project, fork, null));
    expect(end).toMatchObject({ kind: 'done', value: { parent_id: session, message_count: 2 } });
    expect(await contents(other, project, fork.newSession.session_id)).toEqual(['user: one', 'stop: ONE']);
  });

  test('the beginning and the end of another reply', async () => {
    const two = await openTwo();
    const { store, other, project } = two;
    const session = await sessionOf(other, project, ['one']);
    await store.findSession(project, session);
    const turn = await losingItsAnswer(two, session, () =>
      beginAnother(store, project, regeneration(session)),
    );
    const reply = turnReply({ content: 'cut', finish_reason: 'interrupted' });
    const end = await losingItsAnswer(two, session, () => store.endTurn(project, turn, reply));
    expect(end).toEqual({ kind: 'kept', message_count: 2 });
    expect(await contents(other, project, session)).toEqual(['user: one', 'stop: ONE']);
    expect(await hiddenOf(other, project, session)).toEqual(['alternative cut']);
  });
});

describe('what a killed server had of another reply', () => {
  const part = { message_id: 'msg_part', mode: 'echo', now: startOfTime, at: 0, content: 'Once upon' };
  const gone = { beatMs: hour, leaseMs: 20 };

  async function abandoned() {
    const owner = newId('srv');
    const { store } = await openTestPostgres(database, { server: { owner, ...gone } });
    const { store: other } = await openTestPostgres(database);
    const project = await newProject(other);
    const session = await sessionOf(other, project, ['one', 'two']);
    const lease = { owner, ms: hour / 100 };
    const turn = await beginAnother(store, project, regeneration(session, { lease }));
    await store.renewTurn(project, turn, hour / 100, part);
    expect(await other.waitForTurn(project, turn, 20_000, new AbortController().signal)).toBe(true);
    return { store, other, project, session, turn };
  }
  const standing = ['user: one', 'stop: ONE', 'user: two', 'stop: TWO'];

  test('is an alternative when the messages are listed, and the reply that stood stays', async () => {
    const { other, project, session, turn } = await abandoned();
    const page = await other.listAllMessages(project, session, everything);
    expect(page?.items.find(({ message_id }) => message_id === 'msg_part')).toMatchObject({
      ...{ content: 'Once upon', finish_reason: 'interrupted', position: 3 },
      alternative_of: turn.message_id,
    });
    expect(await contents(other, project, session)).toEqual(standing);
    await begin(other, project, { session_id: session });
  });

  test('is an alternative when another turn begins', async () => {
    const { other, project, session } = await abandoned();
    await begin(other, project, { session_id: session, content: 'three' });
    expect(await contents(other, project, session)).toEqual([...standing, 'user: three']);
    expect(await hiddenOf(other, project, session)).toEqual(['alternative Once upon']);
  });

  test('is an alternative when the turn is undone', async () => {
    const { other, project, session } = await abandoned();
    expect(await other.undoTurn(project, moveOf(session))).toMatchObject({ kind: 'done' });
    expect((await hiddenOf(other, project, session)).toSorted()).toEqual(
      ['alternative Once upon', 'undone TWO', 'undone two'].toSorted(),
    );
    await other.redoTurn(project, moveOf(session));
    expect(await contents(other, project, session)).toEqual(standing);
    expect(await hiddenOf(other, project, session)).toEqual(['alternative Once upon']);
  });

  test('and says later is not lost, and takes no reply away', async () => {
    const { store, other, project, session, turn } = await abandoned();
    await begin(other, project, { session_id: session, content: 'three' });
    const end = await store.endTurn(project, turn, turnReply({ content: 'Once upon a time' }));
    expect(end).toMatchObject({ kind: 'lost', standing: { content: 'TWO' } });
    expect(await contents(other, project, session)).toEqual([...standing, 'user: three']);
  });
});

describe('several stores at once', () => {
  async function openFour() {
    const stores = await Promise.all([1, 2, 3, 4].map(async () => (await openTestPostgres(database)).store));
    const [first, second] = stores as readonly SessionStore[] as readonly [SessionStore, SessionStore];
    return { stores, first, second, project: await newProject(first) };
  }

  test('undo one turn each, and bring one back each', async () => {
    const { stores, first, project } = await openFour();
    const session = await sessionOf(first, project, ['one', 'two', 'three', 'four', 'five']);
    const whole = await contents(first, project, session);
    const undone = await Promise.all(stores.map((store) => store.undoTurn(project, moveOf(session))));
    const texts = undone.map((end) => end.kind === 'done' && end.value.message.content);
    expect(texts.toSorted()).toEqual(['five', 'four', 'three', 'two']);
    expect(await contents(first, project, session)).toEqual(['user: one', 'stop: ONE']);
    await Promise.all(stores.map((store) => store.redoTurn(project, moveOf(session))));
    expect(await contents(first, project, session)).toEqual(whole);
  });

  test('with one key do one thing, and get one answer', async () => {
    const { stores, first, project } = await openFour();
    const session = await sessionOf(first, project, ['one', 'two', 'three']);
    const undos = stores.map((store) =>
      store.undoTurn(project, moveOf(session, { idempotencyKey: once(`undo ${session}`) })),
    );
    const [undone, ...others] = await Promise.all(undos);
    expect(undone).toMatchObject({ kind: 'done', value: { message: { content: 'three' } } });
    expect(others).toEqual(Array(3).fill(undone));
    const forks = await Promise.all(
      stores.map((store) => {
        const fork = forkOf(session, { through: 1 });
        return store.forkSession(project, fork, once(`fork ${session}`));
      }),
    );
    expect(new Set(forks.map((end) => end.kind === 'done' && end.value.session_id)).size).toBe(1);
    const key = once(`again ${session}`);
    const begun = await Promise.all(
      stores.map((store) => store.beginRegeneration(project, regeneration(session, { idempotencyKey: key }))),
    );
    expect(begun.map(({ kind }) => kind).toSorted()).toEqual(['begun', 'busy', 'busy', 'busy']);
  });

  test('an undo and a message that meet leave a whole session', async () => {
    const { first, second, project } = await openFour();
    for (let round = 0; round < 10; round += 1) {
      const session = await sessionOf(first, project, ['one', 'two']);
      const chat = async () => {
        const turn = await begin(second, project, { session_id: session, content: 'three' });
        await second.endTurn(project, turn, turnReply({ content: 'THREE' }));
      };
      const [undone] = await Promise.all([first.undoTurn(project, moveOf(session)), chat()]);
      const left = await contents(first, project, session);
      const [kept, hidden] =
        undone.kind === 'busy'
          ? [['one', 'two', 'three'], []]
          : undone.kind === 'done' && undone.value.message.content === 'two'
            ? [['one', 'three'], ['two']]
            : [['one', 'two'], ['three']];
      expect(left).toEqual(kept.flatMap((text) => [`user: ${text}`, `stop: ${text.toUpperCase()}`]));
      expect((await hiddenOf(first, project, session)).toSorted()).toEqual(
        hidden.flatMap((text) => [`undone ${text}`, `undone ${text.toUpperCase()}`]).toSorted(),
      );
    }
  });
});

test('a key that an earlier version recorded keeps its message when another one takes its position', async () => {
  const { store } = await openTestPostgres(database);
  const project = await newProject(store);
  const session = await sessionOf(store, project, ['one']);
  const key = once(`old ${session}`);
  const turn = await begin(store, project, { session_id: session, content: 'two', idempotencyKey: key });
  await store.endTurn(project, turn, turnReply({ content: 'TWO' }));
  await database.rows(`UPDATE parley.idempotency SET message_id = NULL WHERE key = 'old ${session}'`);
  await store.undoTurn(project, moveOf(session));
  await turnOf(store, project, session, 'three');
  const again = await store.beginTurn(
    project,
    turnStart({ session_id: session, content: 'two', idempotencyKey: key }),
  );
  expect(again).toMatchObject({
    kind: 'answered',
    reply: { content: 'TWO', undone_at: expect.any(String) },
  });
});
