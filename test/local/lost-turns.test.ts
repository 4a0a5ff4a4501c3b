// Turns that another process takes over while they run: their engine stops, and nothing is sent that is not stored. Over one store that two
// embedded services share, and one that two servers share.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../src/service/backend.ts';
import type { ChatEvent, ReplyForm } from '../../src/service/chat-event.ts';
import { ParleyError } from '../../src/service/errors.ts';
import { callWith } from '../support/calls.ts';
import { request } from './turn-fixture.ts';
import {
  gated,
  heldRenewals,
  type PlaceKind,
  saying,
  type TwoPlaces,
  taker,
  twoPlaces,
} from './two-places.ts';

interface Outcome {
  readonly deltas: string;
  readonly start: Extract<ChatEvent, { event: 'session' }>['data'] | null;
  readonly done: Extract<ChatEvent, { event: 'done' }>['data'] | null;
  readonly error: ParleyError | null;
}

const quick = { turnLeaseMs: 200, turnWaitMs: 5_000 };

describe.each<PlaceKind>(['embedded', 'served'])('a turn that was taken over, %s', (kind) => {
  let places: TwoPlaces;
  beforeEach(async () => {
    places = await twoPlaces(kind);
  });
  afterEach(() => places.close());

  const call = (idempotencyKey: string | null = null) => callWith(places.key, { idempotencyKey });

  async function run(
    backend: Backend,
    { key = null, form = 'chunks', session = null, message = 'hello' }: RunOptions = {},
  ): Promise<Outcome> {
    const outcome: { -readonly [name in keyof Outcome]: Outcome[name] } = {
      ...{ deltas: '', start: null, done: null, error: null },
    };
    try {
      for await (const event of backend.service.chat(call(key), request(message, session), form)) {
        if (event.event === 'session') outcome.start = event.data;
        if (event.event === 'delta') outcome.deltas += event.data.text;
        if (event.event === 'done') outcome.done = event.data;
      }
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      outcome.error = error;
    }
    return outcome;
  }

  async function stored(backend: Backend, sessionId: string) {
    const page = { limit: 200, cursor: null };
    return (await backend.archive.listMessages(call(), sessionId, page)).data.items;
  }

  async function contents(backend: Backend, sessionId: string) {
    return (await stored(backend, sessionId)).map(
      ({ content, finish_reason }) => `${finish_reason ?? 'user'}: ${content}`,
    );
  }

  it('before its first word responds with the stored reply, and stops its engine within a second', async () => {
    const gate = gated([]);
    const renewals = heldRenewals();
    const a = await places.open({ engines: gate.engines, limits: quick, around: renewals.around });
    const b = await places.open({ engines: saying('standing'), limits: quick, owner: taker });
    const losing = run(a, { key: 'k' });
    await gate.reached;
    const other = await run(b, { key: 'k' });
    // If A noticed its loss before the reply of B is stored, A would answer SESSION_BUSY.
    renewals.letThem();
    const takenAt = performance.now();
    const lost = await losing;
    expect(other.done?.reply).toBe('standing');
    expect(lost.done).toEqual(other.done);
    expect(lost.deltas).toBe('standing');
    expect((gate.stoppedAt() ?? Number.NaN) - takenAt).toBeLessThan(1000);
    expect(await contents(b, other.done?.session_id ?? '')).toEqual(['user: hello', 'stop: standing']);
  });

  it.each<[string, ReplyForm]>([
    ['ends its stream with SESSION_BUSY', 'chunks'],
    ['answers whole with the reply that stands', 'whole'],
  ])('in the middle of another reply %s', async (_, form) => {
    const gate = gated(['half '], ['of A']);
    const renewals = heldRenewals();
    const a = await places.open({ engines: gate.engines, limits: quick, around: renewals.around });
    const b = await places.open({ engines: saying('of B'), limits: quick, owner: taker });
    const losing = run(a, { key: 'k', form });
    await gate.reached;
    const other = await run(b, { key: 'k' });
    renewals.letThem();
    const takenAt = performance.now();
    const lost = await losing;
    expect((gate.stoppedAt() ?? Number.NaN) - takenAt).toBeLessThan(1000);
    if (form === 'whole') expect(lost.done).toEqual(other.done);
    else {
      expect(lost.done).toBeNull();
      expect(lost.error).toMatchObject({ code: 'SESSION_BUSY', ...place(other) });
    }
    expect(await contents(b, other.done?.session_id ?? '')).toEqual(['user: hello', 'stop: of B']);
  });

  it('in the middle of the same reply sends the rest of it, and done', async () => {
    const gate = gated(['one ']);
    const renewals = heldRenewals();
    const a = await places.open({ engines: gate.engines, limits: quick, around: renewals.around });
    const b = await places.open({ engines: saying('one two'), limits: quick, owner: taker });
    const losing = run(a, { key: 'k' });
    await gate.reached;
    const other = await run(b, { key: 'k' });
    renewals.letThem();
    const lost = await losing;
    expect([lost.deltas, lost.done]).toEqual(['one two', other.done]);
  });

  it('at the end of its reply never sends done for a reply that is not stored', async () => {
    // The lease is so long that the end of the reply notices the loss, not a renewal.
    const slow = { turnLeaseMs: 60_000 };
    const gate = gated(['of '], ['A'], { isDeaf: true });
    const a = await places.open({ engines: gate.engines, limits: slow });
    const b = await places.open({ engines: saying('of B'), limits: slow, owner: taker });
    const losing = run(a, { key: 'k' });
    await gate.reached;
    const other = await run(b, { key: 'k' });
    gate.go();
    const lost = await losing;
    expect(lost.deltas === 'of B' ? lost.done : lost.error?.code).toEqual(
      lost.deltas === 'of B' ? other.done : 'SESSION_BUSY',
    );
    expect(await contents(b, other.done?.session_id ?? '')).toEqual(['user: hello', 'stop: of B']);
  });

  it('to a turn that still runs is SESSION_BUSY, and does not change its reply', async () => {
    const [gateA, gateB] = [gated(['half ']), gated(['whole '], ['of B'])];
    const a = await places.open({ engines: gateA.engines, limits: quick });
    const b = await places.open({ engines: gateB.engines, limits: quick, owner: taker });
    const losing = run(a, { key: 'k' });
    await gateA.reached;
    const winning = run(b, { key: 'k' });
    await gateB.reached;
    const lost = await losing;
    gateB.go();
    const other = await winning;
    expect(lost.error).toMatchObject({ code: 'SESSION_BUSY', ...place(other) });
    expect(other.done?.reply).toBe('whole of B');
    const messages = await stored(b, other.done?.session_id ?? '');
    expect(messages.map(({ message_id }) => message_id)).toEqual([
      other.start?.message_id,
      other.done?.message_id,
    ]);
  });

  it('to another message, without a key, stores the sent part, and is SESSION_BUSY', async () => {
    const gate = gated(['half ']);
    const a = await places.open({ engines: gate.engines, limits: quick });
    const b = await places.open({ engines: saying('of B'), limits: quick, owner: taker });
    const session = (await a.service.createSession(call(), { title: null })).data.session_id;
    const losing = run(a, { session });
    await gate.reached;
    const other = await run(b, { session, message: 'next' });
    const takenAt = performance.now();
    const lost = await losing;
    expect((gate.stoppedAt() ?? Number.NaN) - takenAt).toBeLessThan(1000);
    expect(lost.error).toMatchObject({ code: 'SESSION_BUSY', ...place(lost) });
    expect(await contents(b, session)).toEqual([
      ...['user: hello', 'interrupted: half ', 'user: next', 'stop: of B'],
    ]);
    expect(other.done?.message_count).toBe(4);
  });

  it('keeps a complete reply that was stored before the loss was noticed, and sends done for it', async () => {
    const gate = gated(['of '], ['A'], { isDeaf: true });
    const slow = { turnLeaseMs: 60_000 };
    const a = await places.open({ engines: gate.engines, limits: slow });
    const b = await places.open({ engines: saying('of B'), limits: slow, owner: taker });
    const session = (await a.service.createSession(call(), { title: null })).data.session_id;
    const losing = run(a, { session });
    await gate.reached;
    const taking = run(b, { session, message: 'next' });
    gate.go();
    const [lost] = await Promise.all([losing, taking]);
    const messages = await stored(b, session);
    const reply = messages.find(({ message_id }) => message_id === lost.done?.message_id);
    if (lost.done !== null) expect(reply).toMatchObject({ content: 'of A', finish_reason: 'stop' });
    else expect(lost.error?.code).toBe('SESSION_BUSY');
  });

  it('in a session that was deleted meanwhile ends without done for a reply that is not stored', async () => {
    const gate = gated(['half ']);
    const a = await places.open({ engines: gate.engines, limits: quick });
    const b = await places.open({ engines: saying('of B'), limits: quick, owner: taker });
    const losing = run(a, { key: 'k' });
    await gate.reached;
    const other = await run(b, { key: 'k' });
    await b.service.deleteSession(call(), other.done?.session_id ?? '');
    expect((await losing).error).toMatchObject({ code: 'SESSION_BUSY', ...place(other) });
  });

  it.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])('needs more than a clock that jumps an hour %s', async (_, jump) => {
    const gate = gated(['half '], ['whole']);
    const a = await places.open({ engines: gate.engines, limits: quick });
    const owner = { id: 'other', isGone: () => false };
    const now = () => Date.now() + jump;
    const b = await places.open({
      ...{ engines: saying('of B'), limits: { ...quick, turnWaitMs: 500 }, owner, now },
    });
    const session = (await a.service.createSession(call(), { title: null })).data.session_id;
    const running = run(a, { session });
    await gate.reached;
    const startedAt = performance.now();
    expect((await run(b, { session, message: 'next' })).error?.code).toBe('SESSION_BUSY');
    // As long as the requested wait, which is more than two leases.
    expect(performance.now() - startedAt).toBeGreaterThan(450);
    gate.go();
    expect((await running).done?.reply).toBe('half whole');
  });
});

interface RunOptions {
  readonly key?: string | null;
  readonly form?: ReplyForm;
  readonly session?: string | null;
  readonly message?: string;
}

function place({ start }: Outcome) {
  return { session_id: start?.session_id, message_id: start?.message_id };
}
