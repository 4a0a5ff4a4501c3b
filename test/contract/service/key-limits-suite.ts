// The limits of a key: its scope, its expiry and its budgets, in every backend.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/service/backend.ts';
import type { Call } from '../../../src/service/call.ts';
import { callWith, failureOf, say } from '../../support/calls.ts';
import { runs } from '../../support/runs.ts';
import { create, type GivenService, operations } from './service-fixture.ts';

const scopes = ['read', 'chat', 'admin'] as const;

/** The least scope of each operation. */
const needs: Readonly<Record<string, (typeof scopes)[number]>> = {
  ...{ verify: 'read', models: 'read', getSession: 'read', listSessions: 'read', searchSessions: 'read' },
  ...{ listMessages: 'read', listAllMessages: 'read' },
  ...{ createSession: 'chat', chat: 'chat', regenerate: 'chat', undoTurn: 'chat', redoTurn: 'chat' },
  ...{ forkSession: 'chat', changeSession: 'chat', pinSessions: 'chat', tagSessions: 'chat' },
  ...{ deleteSession: 'admin', deleteSessions: 'admin' },
  ...{ restoreSession: 'admin', restoreSessions: 'admin', archiveSessions: 'admin', importSession: 'admin' },
};

const turnsAtOnce = runs(25, 200);

export function describeKeyLimits(given: GivenService): void {
  describe('limits of keys', () => {
    let backend: Backend;
    let first: Call;
    beforeEach(() => {
      ({ backend, first } = given());
    });

    it.each([...scopes, null])(
      'a key of scope %s may do exactly the operations of its scope',
      async (scope) => {
        const call = callWith(await given().issueKey({ scope }));
        const { session_id } = await say(backend.service, first, 'hello');
        const outcomes: Record<string, string> = {};
        for (const [name, operation] of Object.entries(operations(backend, call, session_id))) {
          outcomes[name] = await operation().then(
            () => 'allowed',
            (error: { readonly code: string }) => error.code,
          );
          if (name.startsWith('delete')) await backend.archive.restoreSession(first, session_id);
        }
        const isAllowed = (needed: (typeof scopes)[number]) =>
          scope === null || scopes.indexOf(scope) >= scopes.indexOf(needed);
        const expected = Object.entries(needs).map(([name, needed]) => [
          name,
          isAllowed(needed) ? 'allowed' : 'FORBIDDEN',
        ]);
        expect(outcomes).toEqual(Object.fromEntries(expected));
      },
    );

    it('a key out of scope is refused before the session is looked up, and changes nothing', async () => {
      const call = callWith(await given().issueKey({ scope: 'read' }));
      const { session_id } = await create(backend, first);
      const error = await failureOf(backend.archive.deleteSessions(call, [session_id]));
      expect([error.code, error.kind]).toEqual(['FORBIDDEN', 'key']);
      expect((await failureOf(backend.service.deleteSession(call, 'ses_none'))).code).toBe('FORBIDDEN');
      expect((await backend.service.getSession(call, session_id)).data.session_id).toBe(session_id);
    });

    it('a change of a session that archives it needs the scope of archiving', async () => {
      const call = callWith(await given().issueKey({ scope: 'chat' }));
      const { session_id } = await create(backend, first);
      for (const archived of [true, false]) {
        const changes = { title: 'renamed', archived };
        const error = await failureOf(backend.archive.changeSession(call, session_id, changes));
        expect(error.code).toBe('FORBIDDEN');
      }
      const { title } = (await backend.service.getSession(call, session_id)).data;
      expect(title).toBeNull();
    });

    it.each([
      ['turns', { turns_per_day: 1, tokens_per_day: 1_000_000 }, { turns: 0 }],
      ['tokens', { tokens_per_day: 1 }, { tokens: 0 }],
    ])(
      `of ${turnsAtOnce} turns at once, a key with a budget of one (%s) runs one, and the others are told what is left`,
      async (_, limits, remaining) => {
        const call = callWith(await given().issueKey(limits), { pacesItself: true });
        const ends = await Promise.all(
          Array.from({ length: turnsAtOnce }, () =>
            say(backend.service, call, 'hello').then(
              () => null,
              (error: unknown) => error,
            ),
          ),
        );
        expect(ends.filter((end) => end === null)).toHaveLength(1);
        // A server also limits the streams of a key.
        const codes = ends.flatMap((end) => (end === null ? [] : [(end as { readonly code?: string }).code]));
        expect(codes.filter((code) => code !== 'BUDGET_EXCEEDED' && code !== 'RATE_LIMITED')).toEqual([]);
        expect(codes).toContain('BUDGET_EXCEEDED');
        const refusal = await failureOf(say(backend.service, { ...call, pacesItself: false }, 'hello'));
        expect(refusal).toMatchObject({
          ...{ code: 'BUDGET_EXCEEDED', remaining, retryAfter: expect.any(Number) },
        });
      },
    );

    it('a repeated request gets its stored reply, although the budget is used up', async () => {
      const key = await given().issueKey({ turns_per_day: 1 });
      const call = callWith(key, { idempotencyKey: 'the-only-one' });
      const reply = await say(backend.service, call, 'hello');
      expect(await say(backend.service, call, 'hello')).toMatchObject({ message_id: reply.message_id });
      expect((await failureOf(say(backend.service, callWith(key), 'hello'))).code).toBe('BUDGET_EXCEEDED');
      const other = callWith(key, { idempotencyKey: 'another' });
      expect((await failureOf(say(backend.service, other, 'hello'))).code).toBe('BUDGET_EXCEEDED');
      const { session_id } = reply;
      expect(
        (
          await failureOf(
            backend.archive.regenerate(callWith(key), session_id, {}, 'whole')[Symbol.asyncIterator]().next(),
          )
        ).code,
      ).toBe('BUDGET_EXCEEDED');
      expect((await backend.service.getSession(call, session_id)).data.message_count).toBe(2);
    });

    it('a turn that does not begin is not counted', async () => {
      const key = await given().issueKey({ turns_per_day: 1 });
      const missing = say(backend.service, callWith(key), 'hello', 'ses_none');
      expect((await failureOf(missing)).code).toBe('SESSION_NOT_FOUND');
      expect((await say(backend.service, callWith(key), 'hello')).reply).toContain('hello');
    });
  });
}
