// Random edits at two and three places, synced in any order: in the end all have the same sessions, and nothing acknowledged is lost. The places are
// new projects in the stores of synced-places.ts, so a sequence starts without sessions.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Session } from '../../src/service/session.ts';
import { say } from './calls.ts';
import { recordOf, recordsOf, type SyncedPlace, type SyncedPlaces, sessionsOf } from './synced-places.ts';

type Edit =
  | 'chat'
  | 'go on'
  | 'regenerate'
  | 'undo'
  | 'redo'
  | 'fork'
  | 'rename'
  | 'set'
  | 'delete'
  | 'restore'
  | 'purge'
  | 'tag';

interface Step {
  readonly place: number;
  readonly edit: Edit | 'sync' | 'push' | 'pull' | 'sync tagged';
  readonly other: number;
  readonly choice: number;
}

const edits = (places: number): fc.Arbitrary<Step> =>
  fc.record({
    place: fc.nat(places - 1),
    edit: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('chat' as const, 'go on' as const) },
      { weight: 6, arbitrary: fc.constant('go on' as const) },
      { weight: 6, arbitrary: fc.constantFrom('regenerate' as const, 'undo' as const, 'redo' as const) },
      { weight: 4, arbitrary: fc.constantFrom('rename' as const, 'set' as const, 'fork' as const) },
      { weight: 4, arbitrary: fc.constantFrom('delete' as const, 'restore' as const) },
      { weight: 1, arbitrary: fc.constant('purge' as const) },
      { weight: 3, arbitrary: fc.constant('tag' as const) },
      { weight: 10, arbitrary: fc.constant('sync' as const) },
      { weight: 2, arbitrary: fc.constantFrom('push' as const, 'pull' as const) },
      { weight: 2, arbitrary: fc.constant('sync tagged' as const) },
    ),
    other: fc.integer({ min: 1, max: Math.max(1, places - 1) }),
    choice: fc.nat(30),
  });

/** The history of messages, by id. */
class Model {
  readonly said = new Map<string, string>();
  readonly erased = new Set<string>();
  /** Messages of sessions that were deleted at some time. */
  readonly deleted = new Set<string>();
}

async function edit(place: SyncedPlace, step: Step, model: Model): Promise<void> {
  const { backend, call } = place;
  const { archive, service, administration } = backend;
  const { choice } = step;
  const active = await sessionsOf(place, false);
  const gone = await sessionsOf(place, true);
  const session = active[choice % Math.max(1, active.length)];
  const learn = async (of: Session) => {
    const { messages, hidden_messages = [] } = await recordOf(place, of);
    for (const { message_id, content } of [...messages, ...hidden_messages])
      model.said.set(message_id, content);
    return [...messages, ...hidden_messages].map(({ message_id }) => message_id);
  };
  if (step.edit === 'chat' || (session === undefined && step.edit !== 'restore' && step.edit !== 'purge')) {
    const { session_id } = await say(service, call, `hello ${choice} at ${place.name}`);
    await learn((await service.getSession(call, session_id)).data);
    return;
  }
  if (step.edit === 'restore') {
    const one = gone[choice % Math.max(1, gone.length)];
    if (one !== undefined) await archive.restoreSession(call, one.session_id);
    return;
  }
  if (step.edit === 'purge') {
    const request = {
      project_id: place.projectId,
      deleted_before: new Date(place.now() + 1000).toISOString(),
    };
    for (const one of gone) {
      await archive.restoreSession(call, one.session_id);
      for (const id of await learn(one)) model.erased.add(id);
      await service.deleteSession(call, one.session_id);
    }
    if (gone.length > 0) await administration.purgeSessions({ ...request, expected_sessions: gone.length });
    return;
  }
  if (session === undefined) return;
  const id = session.session_id;
  if (step.edit === 'go on') await say(service, call, `on ${choice} at ${place.name}`, id);
  if (step.edit === 'regenerate' && session.message_count > 0) {
    for await (const _ of archive.regenerate(call, id, {}, 'whole'));
  }
  if (step.edit === 'undo' || step.edit === 'redo')
    await (step.edit === 'undo' ? archive.undoTurn(call, id) : archive.redoTurn(call, id)).catch(() => {});
  if (step.edit === 'fork' && session.message_count > 0) {
    const fork = (await archive.forkSession(call, id, {})).data;
    await learn(fork);
  }
  if (step.edit === 'rename') await archive.changeSession(call, id, { title: `title ${choice % 3}` });
  if (step.edit === 'set')
    await archive.changeSession(call, id, { system: `be ${choice % 3}`, parameters: { seed: choice % 2 } });
  if (step.edit === 'tag') await archive.changeSession(call, id, { tags: choice % 3 === 0 ? [] : ['work'] });
  if (step.edit === 'delete') {
    for (const one of await learn(session)) model.deleted.add(one);
    await service.deleteSession(call, id);
    return;
  }
  await learn((await service.getSession(call, id)).data);
}

async function syncAll(places: SyncedPlaces, all: readonly SyncedPlace[], random: number): Promise<number> {
  const pairs = all.flatMap((here, one) => all.slice(one + 1).map((there) => [here, there] as const));
  for (let round = 1; round <= 40; round += 1) {
    let isQuiet = true;
    for (let at = 0; at < pairs.length; at += 1) {
      const [here, there] = pairs[(at + random) % pairs.length] as (typeof pairs)[0];
      const { status, results, err } = await places.sync(here, there);
      if (status !== 0) throw new Error(err);
      if (results.length > 0) isQuiet = false;
    }
    if (isQuiet) return round;
  }
  throw new Error('The places do not come to rest.');
}

/** Checks a sync with a tag: sessions without the tag in either place are unchanged, and the others are the same in both. */
async function syncTagged(places: SyncedPlaces, here: SyncedPlace, there: SyncedPlace): Promise<void> {
  const both = [here, there];
  const before = await Promise.all(both.map(stateOf));
  const tagged = new Set(before.flatMap(({ tagged }) => tagged));
  const { status, err } = await places.sync(here, there, '--tag', 'work');
  if (status !== 0) throw new Error(err);
  const after = await Promise.all(both.map(stateOf));
  for (const [at, { states }] of before.entries())
    for (const [id, state] of Object.entries(states))
      if (!tagged.has(id)) assert.deepEqual(after[at]?.states[id], state);
  for (const id of tagged) {
    const [one, other] = after.map(({ states }) => states[id]);
    const isActive = (state: typeof one) => state !== undefined && state !== 'deleted';
    if (isActive(one) || isActive(other)) assert.deepEqual(one, other);
  }
}

async function stateOf(place: SyncedPlace) {
  const deleted = await sessionsOf(place, true);
  const active = await recordsOf(place);
  const sessions = [...deleted, ...Object.values(active).map(({ session }) => session as Session)];
  return {
    tagged: sessions.filter(({ tags }) => tags.includes('work')).map(({ session_id }) => session_id),
    states: {
      ...Object.fromEntries(deleted.map(({ session_id }) => [session_id, 'deleted' as const])),
      ...active,
    } as Readonly<Record<string, unknown>>,
  };
}

async function check(
  places: SyncedPlaces,
  all: readonly SyncedPlace[],
  steps: readonly Step[],
  random: number,
): Promise<void> {
  const model = new Model();
  for (const step of steps) {
    const here = all[step.place] as SyncedPlace;
    const there = all[(step.place + step.other) % all.length] as SyncedPlace;
    if (step.edit === 'sync' || step.edit === 'push' || step.edit === 'pull') {
      const words = step.edit === 'sync' ? [] : [`--${step.edit}`];
      const { status, err } = await places.sync(here, there, ...words);
      if (status !== 0) throw new Error(err);
    } else if (step.edit === 'sync tagged') await syncTagged(places, here, there);
    else await edit(here, step, model);
  }
  const rounds = await syncAll(places, all, random);
  // Two places are the same after one sync; the second one finds nothing to do.
  if (all.length === 2) assert.ok(rounds <= 2, `${rounds} rounds`);
  const [first, ...others] = await Promise.all(all.map(recordsOf));
  for (const other of others) assert.deepEqual(other, first);
  const textsOf = (records: typeof first) =>
    new Set(
      Object.values(records ?? {}).flatMap(({ messages, hidden_messages = [] }) =>
        [...messages, ...hidden_messages].map(({ message_id, content }) => `${message_id} ${content}`),
      ),
    );
  const active = textsOf(first);
  for (const place of all)
    for (const { session_id } of await sessionsOf(place, true))
      await place.backend.archive.restoreSession(place.call, session_id);
  const anywhere = new Set(
    (await Promise.all(all.map(recordsOf))).flatMap((records) => [...textsOf(records)]),
  );
  for (const [id, content] of model.said) {
    const text = `${id} ${content}`;
    if (!model.erased.has(id)) assert.ok(anywhere.has(text), `nowhere: ${text}`);
    if (!model.deleted.has(id)) assert.ok(active.has(text), `not active: ${text}`);
  }
}

/** Rejects with the shortest failing sequence of steps. `count`: the number of places. `longest`: the most steps of a sequence. */
export async function expectConvergence(
  places: SyncedPlaces,
  count: number,
  {
    longest = 24,
    ...parameters
  }: { readonly numRuns: number; readonly seed?: number; readonly longest?: number },
): Promise<void> {
  const steps = fc.array(edits(count), { maxLength: longest, size: 'max' });
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(100), async (given, random) =>
      check(places, await places.begin(count), given, random),
    ),
    parameters,
  );
}
