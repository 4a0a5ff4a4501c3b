// Other replies to the last message, in every store: the replies that are replaced stay as alternatives.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import {
  another,
  beginAnother,
  everyMessage,
  kinds,
  regeneration,
  sessionOf,
  turnOf,
} from './line-samples.ts';
import {
  at,
  firstPage,
  newId,
  newProject,
  newSession,
  once,
  snippets,
  startOfTime,
  turnReply,
  turnStart,
} from './store-samples.ts';
import { begin, contents } from './turn-steps.ts';

export function describeRegenerations(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: other replies`, () => {
    it('take the place of a whole reply, which stays as an alternative of its message', async () => {
      const store = await open();
      const project = await newProject(store);
      const first = await turnOf(store, project, null, 'a', { usage: { input_tokens: 1, output_tokens: 2 } });
      const { session_id } = first;
      const [, former] = (await store.listMessages(project, session_id, firstPage))?.items ?? [];
      const start = regeneration(session_id, { mode: 'eliza' });
      const turn = await beginAnother(store, project, start);
      expect(turn).toMatchObject({
        ...{ message_id: first.message_id, position: 0, content: 'a', mode: 'eliza', session_id },
      });
      expect(turn.epoch).toBeGreaterThan(first.epoch);
      const reply = turnReply({
        message_id: start.reply_id,
        content: 'B',
        mode: 'eliza',
        now: startOfTime + 3000,
      });
      expect(await store.endTurn(project, turn, reply)).toEqual({ kind: 'kept', message_count: 2 });
      const page = (await store.listMessages(project, session_id, firstPage))?.items;
      expect(page?.[1]).toMatchObject({
        message_id: start.reply_id,
        content: 'B',
        mode: 'eliza',
        position: 1,
      });
      expect(page).toHaveLength(2);
      const all = await everyMessage(store, project, session_id);
      expect(all.filter(({ alternative_of }) => alternative_of !== undefined)).toEqual([
        { ...former, alternative_of: first.message_id },
      ]);
      expect(await store.findSession(project, session_id)).toMatchObject({
        ...{ message_count: 2, updated_at: at(3000), mode: 'eliza' },
      });
      // The words of the visible line alone are found.
      expect(await snippets(store, project, 'b')).toEqual(['⟦B⟧']);
      expect(await snippets(store, project, 'a')).toEqual(['⟦a⟧']);
      // The call may be repeated after a lost answer.
      expect(await store.endTurn(project, turn, reply)).toEqual({ kind: 'kept', message_count: 2 });
      expect(await everyMessage(store, project, session_id)).toEqual(all);
    });

    it.each(['interrupted', 'error'] as const)(
      'that end with %s do not replace a complete reply, and are stored as alternatives',
      async (finish_reason) => {
        const store = await open();
        const project = await newProject(store);
        const session_id = await sessionOf(store, project, ['a', 'b']);
        const before = await store.listMessages(project, session_id, firstPage);
        const start = regeneration(session_id);
        const turn = await beginAnother(store, project, start);
        const cut = turnReply({
          message_id: start.reply_id,
          content: 'cut',
          finish_reason,
          now: startOfTime,
        });
        for (let times = 0; times < 2; times += 1)
          expect(await store.endTurn(project, turn, cut)).toEqual({ kind: 'kept', message_count: 4 });
        expect(await store.listMessages(project, session_id, firstPage)).toEqual(before);
        expect(await kinds(store, project, session_id)).toEqual(['A', 'B', 'a', 'alternative cut', 'b']);
        expect(await begin(store, project, { session_id })).toMatchObject({ position: 4 });
      },
    );

    it('replace a cut reply even by another cut one, and the earlier stays as an alternative', async () => {
      const store = await open();
      const project = await newProject(store);
      const { session_id } = await turnOf(store, project, null, 'a', {
        finish_reason: 'error',
        content: 'one',
      });
      await another(store, project, session_id, { content: 'two', finish_reason: 'interrupted' });
      expect(await contents(store, project, session_id)).toEqual(['user: a', 'interrupted: two']);
      await another(store, project, session_id, { content: 'three' });
      expect(await contents(store, project, session_id)).toEqual(['user: a', 'stop: three']);
      expect(await kinds(store, project, session_id)).toEqual([
        ...['a', 'alternative one', 'alternative two', 'three'],
      ]);
    });

    it('answer a message that got no reply', async () => {
      const store = await open();
      const project = await newProject(store);
      const { session_id } = await begin(store, project, { content: 'a' });
      const turn = await beginAnother(store, project, regeneration(session_id, { deadOwner: 'owner-1' }));
      expect(await store.endTurn(project, turn, turnReply({ content: 'late' }))).toEqual({
        ...{ kind: 'kept', message_count: 2 },
      });
      expect(await kinds(store, project, session_id)).toEqual(['a', 'late']);
    });

    it('need a message, a session of the project, and no turn that runs', async () => {
      const store = await open();
      const [project, other] = [await newProject(store), await newProject(store)];
      const empty = await newSession(store, project);
      expect(await store.beginRegeneration(project, regeneration(empty))).toEqual({ kind: 'empty' });
      const session_id = await sessionOf(store, project, ['a']);
      for (const [caller, id] of [
        [other, session_id],
        [project, newId('ses')],
      ] as const)
        expect(await store.beginRegeneration(caller, regeneration(id))).toEqual({ kind: 'not_found' });
      const running = await beginAnother(store, project, regeneration(session_id));
      const { owner, epoch } = running;
      for (const begun of [
        await store.beginRegeneration(project, regeneration(session_id)),
        await store.beginTurn(project, turnStart({ session_id })),
      ])
        expect(begun).toEqual({ kind: 'busy', session_id, owner, epoch });
      await store.deleteSession(project, session_id, startOfTime);
      expect(await store.beginRegeneration(project, regeneration(session_id))).toEqual({ kind: 'not_found' });
    });

    it('that are abandoned leave the reply that stands', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a']);
      const start = regeneration(session_id, { lease: { owner: 'owner-1', ms: 1 } });
      const lost = await beginAnother(store, project, start);
      await delay(5);
      await turnOf(store, project, session_id, 'b');
      expect(await contents(store, project, session_id)).toEqual([
        ...['user: a', 'stop: A', 'user: b', 'stop: B'],
      ]);
      expect(await store.endTurn(project, lost, turnReply({ content: 'late' }))).toMatchObject({
        ...{ kind: 'lost', standing: { content: 'A' } },
      });
      expect(await store.renewTurn(project, lost, 60_000)).toBe(false);
    });

    it('of one key are made once: a repeated key gets its own reply, also when that is an alternative', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a']);
      const again = (key: string) => regeneration(session_id, { idempotencyKey: once(key) });
      const start = again('one');
      await another(store, project, session_id, { content: 'one' }, start);
      await another(store, project, session_id, { content: 'two' });
      const before = await everyMessage(store, project, session_id);
      for (let times = 0; times < 2; times += 1) {
        expect(await store.beginRegeneration(project, again('one'))).toMatchObject({
          ...{ kind: 'answered', reply: { message_id: start.reply_id, content: 'one' } },
        });
      }
      expect(
        await store.beginRegeneration(
          project,
          regeneration(session_id, { idempotencyKey: once('one', 'else') }),
        ),
      ).toEqual({
        kind: 'mismatch',
      });
      expect(await everyMessage(store, project, session_id)).toEqual(before);
    });

    it('of a key that failed are asked for again, with the same message', async () => {
      const store = await open();
      const project = await newProject(store);
      const first = await turnOf(store, project, null, 'a');
      const { session_id } = first;
      const key = once('k');
      await another(
        store,
        project,
        session_id,
        { content: 'cut', finish_reason: 'error' },
        { idempotencyKey: key },
      );
      const again = regeneration(session_id, { idempotencyKey: key });
      const turn = await beginAnother(store, project, again);
      expect(turn).toMatchObject({ message_id: first.message_id, position: 0 });
      expect(
        await store.beginRegeneration(project, regeneration(session_id, { idempotencyKey: key })),
      ).toMatchObject({
        kind: 'busy',
      });
      await store.endTurn(project, turn, turnReply({ message_id: again.reply_id, content: 'whole' }));
      expect(
        await store.beginRegeneration(project, regeneration(session_id, { idempotencyKey: key })),
      ).toMatchObject({
        ...{ kind: 'answered', reply: { content: 'whole', message_id: again.reply_id } },
      });
      expect(await kinds(store, project, session_id)).toEqual([
        'a',
        'alternative A',
        'alternative cut',
        'whole',
      ]);
    });

    it('leave the answer to the key of a chat: the first whole reply that its message got', async () => {
      const store = await open();
      const project = await newProject(store);
      const chat = turnStart({ idempotencyKey: once('chat'), content: 'a' });
      const turn = await begin(store, project, chat);
      const { session_id } = turn;
      await store.endTurn(project, turn, turnReply({ content: 'first' }));
      await another(store, project, session_id, { content: 'second' });
      await another(store, project, session_id, { content: 'cut', finish_reason: 'error' });
      expect(await store.beginTurn(project, { ...turnStart(), idempotencyKey: once('chat') })).toMatchObject({
        ...{ kind: 'answered', reply: { content: 'first' } },
      });
    });

    it('count in the usage, each once', async () => {
      const store = await open();
      const project = await newProject(store);
      const usage = { input_tokens: 1, output_tokens: 1 };
      const { session_id } = await turnOf(store, project, null, 'a', { usage, mode: 'large' });
      await another(store, project, session_id, { usage, mode: 'large' });
      await another(store, project, session_id, { usage, mode: 'large', finish_reason: 'error' });
      expect(await store.usage(0, 'mode')).toMatchObject([
        { group: 'large', turns: 3, failed: 1, input_tokens: 3, output_tokens: 3 },
      ]);
    });
  });
}
