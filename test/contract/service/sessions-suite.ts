// Sessions: created, read and deleted, and the text of each refusal.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/service/backend.ts';
import type { Call } from '../../../src/service/call.ts';
import { isSessionId } from '../../../src/service/session.ts';
import { failureOf } from '../../support/calls.ts';
import {
  answerTo,
  bareSession,
  create,
  everySession,
  type GivenService,
  isoMilliseconds,
  operations,
} from './service-fixture.ts';

/** Operations that name an active session. */
const ofOneSession = [
  ...[
    'getSession',
    'chat',
    'deleteSession',
    'listMessages',
    'listAllMessages',
    'changeSession',
    'regenerate',
  ],
  ...['undoTurn', 'redoTurn', 'forkSession'],
] as const;

export function describeSessions(given: GivenService): void {
  describe('sessions', () => {
    let backend: Backend;
    let first: Call;
    let second: Call;
    beforeEach(() => {
      ({ backend, first, second } = given());
    });

    it('a created session has the four fields of the interface document, and no messages', async () => {
      const { data, body } = await backend.service.createSession(first, { title: 'Plans' });
      expect(Object.keys(data).sort()).toEqual(['created_at', 'message_count', 'session_id', 'title']);
      expect(data).toMatchObject({ title: 'Plans', message_count: 0 });
      expect(data.created_at).toMatch(isoMilliseconds);
      expect(isSessionId(data.session_id)).toBe(true);
      expect(data.session_id).toMatch(/^ses_/);
      expect(body).toEqual({ success: true, data });
    });

    it('a session created without a title has none', async () => {
      expect((await create(backend, first)).title).toBeNull();
    });

    it('get returns the fields that create returned, and the last activity', async () => {
      const created = await create(backend, first, 'Plans');
      const { data, body } = await backend.service.getSession(first, created.session_id);
      expect(data).toEqual({
        ...created,
        updated_at: created.created_at,
        ...bareSession,
      });
      expect(body).toEqual({ success: true, data });
    });

    it.each([
      ['empty', ''],
      ['white space alone', ' \u3000 '],
      ['a line break', 'a\nb'],
      ['a control character', 'a\u001bb'],
      ['a C1 control character', 'a\u009bb'],
      ['a NUL', 'a\0b'],
      ['half of a surrogate pair', 'a\ud800b'],
      ['201 characters', 'x'.repeat(201)],
    ])('a title that is %s is refused, and nothing is kept', async (_, title) => {
      const error = await failureOf(backend.service.createSession(first, { title }));
      expect(error.code).toBe('INVALID_REQUEST');
      expect(error.details[0]?.field).toBe('title');
      expect((await backend.archive.listSessions(first, everySession)).data.items).toEqual([]);
    });

    it('the length of a title counts code points, not UTF-16 units', async () => {
      const title = '😀'.repeat(200);
      expect((await create(backend, first, title)).title).toBe(title);
    });

    it('get, chat and delete do not find a deleted session, as if it never existed', async () => {
      const { session_id } = await create(backend, first);
      const { data, body } = await backend.service.deleteSession(first, session_id);
      expect(data.session_id).toBe(session_id);
      expect(data.deleted_at).toMatch(isoMilliseconds);
      expect(body).toEqual({ success: true, data });
      for (const operation of ['getSession', 'chat', 'deleteSession'] as const) {
        const error = await failureOf(
          operations(backend, first, session_id)[operation]?.() ?? Promise.resolve(),
        );
        expect(error.code).toBe('SESSION_NOT_FOUND');
      }
    });

    it('the refusals for a session that never existed, a deleted one and another project’s are identical to the byte', async () => {
      const theirs = (await create(backend, first)).session_id;
      const deleted = (await create(backend, second)).session_id;
      await backend.service.deleteSession(second, deleted);
      const answers = new Set<string>();
      for (const id of [theirs, deleted, 'ses_never', 'x', '%2e', 'ses_🙂', "' OR 1=1 --", 'a/b?c#d']) {
        for (const operation of ofOneSession) {
          const error = await failureOf(operations(backend, second, id)[operation]?.() ?? Promise.resolve());
          expect(error.code).toBe('SESSION_NOT_FOUND');
          answers.add(answerTo(error));
        }
      }
      expect(answers.size).toBe(1);
      expect((await backend.service.getSession(first, theirs)).data.message_count).toBe(0);
    });
  });
}
