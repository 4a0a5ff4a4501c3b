// Keys, and the modes that they may chat in.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/service/backend.ts';
import type { Call } from '../../../src/service/call.ts';
import { callWith, collect, failureOf } from '../../support/calls.ts';
import { answerTo, create, type GivenService, isoMilliseconds, operations } from './service-fixture.ts';

export function describeKeys(given: GivenService): void {
  describe('keys', () => {
    let backend: Backend;
    let first: Call;
    let second: Call;
    let revokedKey: string;
    beforeEach(() => {
      ({ backend, first, second, revokedKey } = given());
    });

    it('a key resolves to its project', async () => {
      const { data, body } = await backend.service.verify(first);
      expect(data.project_name).toBe(given().firstProject);
      expect(data.created_at).toMatch(isoMilliseconds);
      expect(Object.keys(data).sort()).toEqual([
        'created_at',
        'key_id',
        'key_name',
        'project_id',
        'project_name',
      ]);
      expect(body).toEqual({ success: true, data });
      expect((await backend.service.verify(second)).data.project_id).not.toBe(data.project_id);
    });

    it('absent, malformed, unknown and revoked keys get one identical answer from every operation', async () => {
      const { session_id } = await create(backend, first);
      const mistyped = first.apiKey.slice(0, -1) + (first.apiKey.endsWith('x') ? 'y' : 'x');
      const answers = new Set<string>();
      for (const key of ['', 'no-key', mistyped, revokedKey]) {
        for (const operation of Object.values(operations(backend, callWith(key), session_id))) {
          const error = await failureOf(operation());
          expect(error.code).toBe('INVALID_API_KEY');
          answers.add(answerTo(error));
        }
      }
      expect(answers.size).toBe(1);
      expect((await backend.service.getSession(first, session_id)).data.message_count).toBe(0);
    });

    it('a request without a valid key is refused for its key before anything else in it is checked', async () => {
      const bad = callWith('no-key');
      const chat = backend.service.chat(
        bad,
        { mode: 'no-mode', message: '', session_id: 'ses_none' },
        'chunks',
      );
      expect((await failureOf(collect(chat))).code).toBe('INVALID_API_KEY');
    });
  });

  describe('modes', () => {
    let backend: Backend;
    let first: Call;
    beforeEach(() => {
      ({ backend, first } = given());
    });

    it('models lists the modes, one of them the default', async () => {
      const { data, body } = await backend.service.models(first);
      expect(body).toEqual({ success: true, data });
      expect(data.map(({ name }) => name)).toEqual(['eliza', 'echo']);
      expect(data.filter((mode) => mode.default).map(({ name }) => name)).toEqual(['eliza']);
      for (const mode of data) {
        expect(Object.keys(mode).sort()).toEqual(['default', 'description', 'engine', 'model', 'name']);
      }
    });
  });
}
