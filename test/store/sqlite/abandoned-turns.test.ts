// When a turn with stored parts counts as abandoned in SQLite: what is known of its process decides, then its lease. And what a purge leaves
// of the parts.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { SessionStore } from '../../../src/store/session-store.ts';
import type { OwnerState } from '../../../src/store/sqlite/abandoned-turns.ts';
import { Gate } from '../../../src/store/sqlite/gate.ts';
import { openSqliteRows } from '../../../src/store/sqlite/open.ts';
import { lookInto, RawDatabase } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import { firstPage, newProject, startOfTime, turnReply } from '../store-samples.ts';
import { begin, contents } from '../turn-steps.ts';

const part = { at: 0, content: 'Once upon', message_id: 'msg_part', mode: 'echo', now: startOfTime };
const running = ['user: Hello'];
const ended = ['user: Hello', 'interrupted: Once upon'];

async function openPlace() {
  const options = storeOptions(temporaryDirectory());
  const open = async (state: OwnerState = 'unknown') =>
    (await openTestStore({ ...options, stateOf: () => state })).store;
  const store = await open();
  return { options, open, store, project: await newProject(store) };
}

/** A turn with a stored part, whose lease ends after `ms`. */
async function turnWithPart(store: SessionStore, project: string, ms: number) {
  const turn = await begin(store, project, { lease: { owner: 'owner-1', ms } });
  await store.renewTurn(project, turn, ms, part);
  await delay(ms < 1000 ? ms + 5 : 0);
  return turn;
}

it.each([
  ['gone', 60_000, ended],
  ['unknown', 60_000, running],
  ['unknown', 1, ended],
  ['running', 60_000, running],
  // The process is suspended, and goes on with its reply when it is continued.
  ['running', 1, running],
] as const)(
  'a process that is %s, with a lease of %i ms: its turn is over or not, for a reader and a new process alike',
  async (state, ms, expected) => {
    const { options, open, store, project } = await openPlace();
    const other = await open(state);
    const { session_id } = await turnWithPart(store, project, ms);
    expect(await contents(other, project, session_id)).toEqual(expected);
    const again = await turnWithPart(store, project, ms);
    const stored = () =>
      lookInto(join(options.directory, 'parley.db'), (database) =>
        database
          .prepare('SELECT message_count FROM sessions WHERE session_id = ?')
          .pluck()
          .get(again.session_id),
      );
    expect(stored()).toBe(1);
    await open(state);
    expect(stored()).toBe(expected.length);
    const rows = await openSqliteRows({ ...options, stateOf: () => state });
    await rows.close();
    expect(stored()).toBe(expected.length);
  },
);

it('a turn whose end this process could not store is over after its lease, although the process runs', async () => {
  const { options, open, project } = await openPlace();
  const store = await open('running');
  const turn = await turnWithPart(store, project, 1);
  const file = join(options.directory, 'parley.db');
  const change = (sql: string) => lookInto(file, (database) => database.exec(sql));
  change(`CREATE TRIGGER refused BEFORE INSERT ON messages BEGIN SELECT RAISE(FAIL, 'refused'); END`);
  await expect(store.endTurn(project, turn, turnReply())).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  change('DROP TRIGGER refused');
  expect(await contents(store, project, turn.session_id)).toEqual(ended);
});

it('a copy of a store has the reply of a process that is gone', async () => {
  const { options, store, project } = await openPlace();
  await turnWithPart(store, project, 60_000);
  const rows = await openSqliteRows({ ...options, stateOf: () => 'gone' });
  expect((await rows.readParts(project, null)).parts[0]?.messages).toHaveLength(2);
  await rows.close();
});

it('messages are read also while another program holds the store, then without the reply of the abandoned turn', async () => {
  const { options, open, store, project } = await openPlace();
  const { session_id } = await turnWithPart(store, project, 60_000);
  // Opened before the store is held.
  const other = await open('running');
  await other.close();
  const held = new RawDatabase(join(options.directory, 'parley.db'));
  held.exec('BEGIN IMMEDIATE');
  const reader = (await openTestStore({ ...options, lockWaitMs: 200, stateOf: () => 'gone' })).store;
  expect(await contents(reader, project, session_id)).toEqual(running);
  held.exec('ROLLBACK');
  held.close();
  expect(await contents(reader, project, session_id)).toEqual(ended);
});

it('hundreds of abandoned turns end when a store is opened, while others write', async () => {
  const { open, store, project } = await openPlace();
  const turns = await Promise.all(
    Array.from({ length: 300 }, () => begin(store, project, { lease: { owner: 'owner-1', ms: 60_000 } })),
  );
  await Promise.all(turns.map((turn) => store.renewTurn(project, turn, 60_000, part)));
  const [other] = await Promise.all([open('gone'), begin(store, project)]);
  for (const { session_id } of turns) expect(await contents(other, project, session_id)).toEqual(ended);
});

it('no byte of a part is left in any file after a purge, of a turn that ended and of one that did not', async () => {
  const { options, open, store, project } = await openPlace();
  const text = 'canaryalpha '.repeat(2000);
  const left = await begin(store, project, { lease: { owner: 'owner-1', ms: 1 } });
  await store.renewTurn(project, left, 1, { ...part, content: text });
  const whole = await begin(store, project);
  await store.renewTurn(project, whole, 60_000, { ...part, content: text });
  await store.endTurn(project, whole, turnReply({ content: text }));
  const placesOf = (word: string) =>
    readdirSync(options.directory).filter((name) =>
      readFileSync(join(options.directory, name)).includes(word),
    );
  for (const { session_id } of [left, whole]) await store.deleteSession(project, session_id, startOfTime);
  await store.close();
  expect(placesOf('canaryalpha')).toEqual(['parley.db']);
  const other = await open();
  const filter = { projectId: project, deletedBefore: startOfTime + 1 };
  expect(await other.purgeSessions(filter, { expected: 2, keptSince: 0 })).toMatchObject({
    ...{ kind: 'purged', report: { sessions: 2, integrity: 'ok' } },
  });
  await other.close();
  expect(placesOf('canaryalpha')).toEqual([]);
});

it('parts that come within a moment are stored together, and an end does not wait for them', async () => {
  const { store, project } = await openPlace();
  const turns = await Promise.all(Array.from({ length: 20 }, () => begin(store, project)));
  const order: string[] = [];
  const parts = turns.map((turn) =>
    store.renewTurn(project, turn, 60_000, part).then((isHeld) => order.push(`part ${isHeld}`)),
  );
  await parts[0];
  await store.endTurn(project, turns[0] as (typeof turns)[0], turnReply()).then(() => order.push('end'));
  await Promise.all(parts);
  expect(order).toEqual(['part true', 'end', ...Array(19).fill('part true')]);
  const { session_id } = turns[0] as (typeof turns)[0];
  expect((await store.listMessages(project, session_id, firstPage))?.items).toHaveLength(2);
});

it('a gate opens at once, then for all that wait together', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'hrtime'] });
  onTestFinished(() => void vi.useRealTimers());
  const gate = new Gate(50);
  const begun = performance.now();
  const passed: number[] = [];
  const pass = () => gate.pass().then(() => passed.push(performance.now() - begun));
  await pass();
  void pass();
  void pass();
  await vi.advanceTimersByTimeAsync(20);
  void pass();
  await vi.advanceTimersByTimeAsync(30);
  void pass();
  await vi.advanceTimersByTimeAsync(50);
  expect(passed).toEqual([0, 50, 50, 50, 100]);
});
