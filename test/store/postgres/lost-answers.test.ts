// What a write does whose answer is lost, whichever of its answers that is: the same as without the loss, with the same result.
import { createHash } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SessionStore } from '../../../src/store/session-store.ts';
import { openLostAnswerProxy } from '../../support/lost-answer-proxy.ts';
import type { PostgresDatabase } from '../../support/postgres-server.ts';
import { openTestPostgres, postgresOptions } from '../../support/postgres-store.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { forkOf, moveOf, regeneration, turnOf } from '../line-samples.ts';
import { everySession, newKey, once, recordOf, startOfTime, turnReply, turnStart } from '../store-samples.ts';
import { begin } from '../turn-steps.ts';

let database: PostgresDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await sharedPostgres();
  const { port, user, database: name } = database;
  client = new pg.Client({ host: '127.0.0.1', port, user, database: name });
  await client.connect();
}, 60_000);
afterAll(() => client.end());

const by = { time: startOfTime, key_id: 'key_mine', request_id: 'req_mine' };
const keys = [
  [null, 'without a key'],
  [once('key'), 'with a key'],
] as const;
const minute = 60_000;

interface Place {
  readonly store: SessionStore;
  readonly project: string;
  readonly hash: Uint8Array;
}

/** Prepares a place, and returns the call whose answer is lost. */
type Scene = (place: Place) => Promise<(store: SessionStore) => Promise<unknown>>;

async function talked({ store, project }: Place): Promise<string> {
  await turnOf(store, project, null, 'one', { message_id: 'reply_1' });
  const [session] = (await store.listSessions(project, everySession())).items;
  return session?.session_id ?? '';
}

const policy = { after_ms: minute, keep_last: null, erase_after_ms: minute };
const runStart = (batch: string) => ({
  ...{ batch, policy, holder: 'holder', leaseMs: minute, deadHolder: null, now: startOfTime + 5 * minute },
  ...{ dueUntil: startOfTime, dueAfter: startOfTime + 10 * minute },
});

const scenes: Readonly<Record<string, Scene>> = {
  'a new session': async ({ project }) => {
    return (store) =>
      store.createSession(project, { session_id: 'ses_new', title: 'New', now: startOfTime }, null);
  },
  ...Object.fromEntries(
    keys.flatMap(([key, withKey]): readonly (readonly [string, Scene])[] => [
      [
        `a deletion ${withKey}`,
        async (place) => {
          const id = await talked(place);
          return (store) => store.deleteSessions(place.project, [id, 'ses_none'], startOfTime + 9, key, by);
        },
      ],
      [
        `a restoration of one ${withKey}`,
        async (place) => {
          const id = await talked(place);
          await place.store.deleteSession(place.project, id, startOfTime);
          return (store) => store.restoreSession(place.project, id, key, by);
        },
      ],
      [
        `a restoration ${withKey}`,
        async (place) => {
          const id = await talked(place);
          await place.store.deleteSession(place.project, id, startOfTime);
          return (store) => store.restoreSessions(place.project, [id, 'ses_none'], key, by);
        },
      ],
      [
        `tags ${withKey}`,
        async (place) => {
          const id = await talked(place);
          const change = { pinned: true, tags: { add: ['a', 'b'], remove: [] } };
          return (store) => store.orderSessions(place.project, [id, 'ses_none'], change, 'changed', key);
        },
      ],
      [
        `an import ${withKey}`,
        async ({ project }) => {
          const record = recordOf('ses_imported', ['hello', 'hi', 'more']);
          return (store) => store.importSession(project, record, key, by);
        },
      ],
      [
        `an import that adds messages ${withKey}`,
        async ({ store, project }) => {
          const record = recordOf('ses_imported', ['hello', 'hi', 'more', 'most']);
          const first = { ...record, messages: record.messages.slice(0, 2) };
          await store.importSession(
            project,
            { ...first, session: { ...record.session, message_count: 2 } },
            null,
          );
          return (again) => again.importSession(project, record, key, by);
        },
      ],
      [
        `an undo ${withKey}`,
        async (place) => {
          const id = await talked(place);
          await turnOf(place.store, place.project, id, 'two');
          return (store) => store.undoTurn(place.project, moveOf(id, { idempotencyKey: key }));
        },
      ],
      [
        `a fork ${withKey}`,
        async (place) => {
          const id = await talked(place);
          const fork = forkOf(id, { newSession: { session_id: 'ses_fork', title: undefined } });
          return (store) => store.forkSession(place.project, fork, key);
        },
      ],
      [
        `a turn ${withKey}`,
        async (place) => {
          const id = await talked(place);
          const start = turnStart({ session_id: id, message_id: 'msg_new', idempotencyKey: key });
          return (store) => store.beginTurn(place.project, start);
        },
      ],
      [
        `a turn after an abandoned one ${withKey}`,
        async (place) => {
          const id = await talked(place);
          await begin(place.store, place.project, { session_id: id, lease: { owner: 'gone', ms: 1 } });
          const start = turnStart({ session_id: id, message_id: 'msg_new', idempotencyKey: key });
          return (store) => store.beginTurn(place.project, start);
        },
      ],
      [
        `a regeneration ${withKey}`,
        async (place) => {
          const id = await talked(place);
          const start = regeneration(id, { reply_id: 'reply_new', idempotencyKey: key });
          return (store) => store.beginRegeneration(place.project, start);
        },
      ],
    ]),
  ),
  'a change of the title and the tags': async (place) => {
    const id = await talked(place);
    return (store) => store.changeSession(place.project, id, { title: 'Other', tags: ['x'], pinned: true });
  },
  'the end of a turn': async (place) => {
    const id = await talked(place);
    const turn = await begin(place.store, place.project, { session_id: id });
    return (store) => store.endTurn(place.project, turn, turnReply({ message_id: 'reply_2' }));
  },
  'the end of a regeneration': async (place) => {
    const id = await talked(place);
    const start = regeneration(id, { reply_id: 'reply_new' });
    const begun = await place.store.beginRegeneration(place.project, start);
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    return (store) => store.endTurn(place.project, begun.turn, turnReply({ message_id: 'reply_new' }));
  },
  'a new key': async ({ project }) => {
    const key = newKey({
      key_id: `${project}_second`,
      project_name: `name of ${project}`,
      hash: createHash('sha256').update(`${project} second`).digest(),
    });
    return (store) => store.createKey(key);
  },
  'a revocation': async ({ project }) => {
    return (store) => store.revokeKey(`${project}_key`, startOfTime + 7);
  },
  'the settlement of a turn': async ({ store, hash }) => {
    await store.budgets.reserve(hash, 100);
    const reservation = await store.budgets.reserve(hash, 100);
    if (reservation.kind !== 'counted') throw new Error(reservation.kind);
    return (again) => again.budgets.settle(hash, { day: reservation.day, turns: -1, tokens: -100 });
  },
  'an entry of the audit log': async ({ project }) => {
    const note = { ...by, what: 'export', project_id: project, count: 1, ids: ['ses_a'] } as const;
    return (store) => store.audit.record(note);
  },
  'a chaining of the audit log': async ({ store, project }) => {
    const note = { ...by, what: 'export', project_id: project, count: 1, ids: ['ses_a'] } as const;
    await store.audit.record(note);
    return (again) => again.audit.chain();
  },
  'a purge': async (place) => {
    const id = await talked(place);
    await place.store.deleteSession(place.project, id, startOfTime);
    const filter = { projectId: place.project, deletedBefore: startOfTime + 1 };
    return async (store) => {
      const purge = await store.purgeSessions(filter, { expected: 1, keptSince: 0, by });
      return purge.kind === 'purged' ? [purge.report.sessions, purge.report.messages] : purge;
    };
  },
  'a redaction': async (place) => {
    const id = await talked(place);
    const redactions = { messages: [{ message_id: 'reply_1', was: 'ONE', content: 'x' }], changes: {}, by };
    return async (store) => (await store.redactions()).redact(place.project, id, redactions);
  },
  'a policy': async ({ project }) => {
    return async (store) => (await store.retention()).setPolicy(project, policy, by);
  },
  'the end of a policy': async ({ store, project }) => {
    await (await store.retention()).setPolicy(project, policy, by);
    return async (again) => (await again.retention()).removePolicy(project, by);
  },
  'a run of retention': async (place) => {
    const { store, project } = place;
    await talked(place);
    await talked(place);
    const first = await store.retention();
    await first.setPolicy(project, policy, by);
    const filter = {
      end: { time: startOfTime + 2 * minute, sessionId: '' },
      restoredBefore: startOfTime + 2 * minute,
    };
    return async (again) => {
      const retention = await again.retention();
      const begun = await retention.begin(project, runStart(`${project}_batch`));
      if (begun.kind !== 'begun') return begun;
      const leased = { projectId: project, run: begun.run.id, holder: 'holder', leaseMs: minute, by };
      await retention.expire(leased, filter, null);
      await retention.expire(leased, filter, { archived: true, after: { time: 0, sessionId: '' } });
      await retention.erase(leased, startOfTime + 100 * minute, 0, () => true);
      const ended = await retention.end(leased, startOfTime + 6 * minute);
      return ended && { ...ended, id: 0 };
    };
  },
  'a restoration of what retention has deleted': async (place) => {
    const { store, project } = place;
    await talked(place);
    const retention = await store.retention();
    await retention.setPolicy(project, policy, by);
    const begun = await retention.begin(project, runStart(`${project}_batch`));
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    const leased = { projectId: project, run: begun.run.id, holder: 'holder', leaseMs: minute, by };
    const filter = {
      end: { time: startOfTime + 2 * minute, sessionId: '' },
      restoredBefore: startOfTime + 2 * minute,
    };
    await retention.expire(leased, filter, null);
    await retention.end(leased, startOfTime + 6 * minute);
    return async (again) => void (await (await again.retention()).restoreStep(begun.run, by));
  },
};

/** Everything that the store holds of a project. */
async function contentsOf(project: string): Promise<unknown> {
  const own = `(SELECT id FROM parley.projects WHERE project_id = '${project}')`;
  const sessions = `(SELECT id FROM parley.sessions WHERE project = ${own})`;
  const queries = [
    `SELECT s.session_id, title, updated_at, message_count, deleted_at, turn_owner, turn_position, turn_epoch, mode,
      undone_turns, pinned, archived, tags, parent_id, forked_at, restored_at IS NULL AS is_new, expired IS NULL AS is_own
      FROM parley.sessions AS s WHERE project = ${own} ORDER BY session_id`,
    `SELECT position, role, content, mode, finish_reason FROM parley.messages WHERE session IN ${sessions} ORDER BY 1, 3`,
    `SELECT position, role, content, mode, finish_reason FROM parley.hidden_messages WHERE session IN ${sessions} ORDER BY 1, 3`,
    `SELECT tag FROM parley.session_tags WHERE project = ${own} ORDER BY tag`,
    `SELECT key, position, answer FROM parley.idempotency WHERE project = ${own} ORDER BY key`,
    `SELECT entry FROM parley.audit_waiting WHERE entry LIKE '%"${project}"%'
      UNION ALL SELECT entry FROM parley.audit WHERE entry LIKE '%"${project}"%' ORDER BY 1`,
    `SELECT turns, tokens FROM parley.key_usage JOIN parley.api_keys AS k ON k.id = key WHERE project = ${own}`,
    `SELECT expired, erased, restored, ended_at FROM parley.retention_runs WHERE project = ${own} ORDER BY id`,
    `SELECT policy, confirmed, runner FROM parley.retention WHERE project = ${own}`,
    `SELECT count(*)::integer FROM parley.to_index WHERE project = ${own}`,
    'SELECT name FROM parley.meta ORDER BY name',
  ];
  // A text of several statements has a result for each. The types of pg do not say so.
  const results = (await client.query(queries.join(';'))) as unknown as readonly pg.QueryResult[];
  return results.map(({ rows }) => rows);
}

async function run(store: SessionStore, scene: Scene, project: string, lost: number) {
  const hash = createHash('sha256').update(project).digest();
  await store.createKey(
    newKey({
      ...{ key_id: `${project}_key`, project_id: project, project_name: `name of ${project}`, hash },
      ...{ turns_per_day: 100, tokens_per_day: 100_000 },
    }),
  );
  const call = await scene({ store, project, hash });
  const proxy = await openLostAnswerProxy(database.port);
  const [host] = postgresOptions(database).hosts;
  const hosts = [{ ...host, host: '127.0.0.1', port: proxy.port, user: database.user }];
  const { store: cut } = await openTestPostgres(database, { hosts, connections: 1 });
  await cut.findSession(project, 'ses_none');
  if (lost > 0) proxy.lose(lost);
  const result = await call(cut).catch((error: unknown) => String(error));
  const isOver = lost > 0 && !proxy.hasLost();
  await cut.close();
  await proxy.close();
  const effect = { result, contents: await contentsOf(project) };
  const plain = JSON.stringify(effect, null, 1)
    .replaceAll(project, 'project')
    .replaceAll(/\b(msg|reply|ses|closing)_\d+_\d+/g, '$1_n')
    .replaceAll(/"ids\\":\[[^\]]*\]/g, '"ids\\":[]')
    .replaceAll(/prj_\w+|\d{4}-[\d-]+T[\d:.]+Z/g, 'x');
  return { effect: JSON.parse(plain), isOver };
}

test.each(Object.entries(scenes))('%s', async (name, scene) => {
  const place = name.replaceAll(/\W/g, '_');
  const { store } = await openTestPostgres(database);
  const { effect } = await run(store, scene, `${place}_0`, 0);
  for (let lost = 1; ; lost += 1) {
    const again = await run(store, scene, `${place}_${lost}`, lost);
    if (again.isOver) break;
    // A statement over whole tables is sent once, and the next purge sends it again.
    if (/^"ParleyError: .* gives no answer/.test(JSON.stringify(again.effect.result))) break;
    expect.soft(again.effect, `answer ${lost}`).toEqual(effect);
  }
});
