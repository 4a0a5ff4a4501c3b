// Searches: which messages are found, in which order, and which queries are refused.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/service/backend.ts';
import type { Call } from '../../../src/service/call.ts';
import type { SearchPage } from '../../../src/service/session-archive.ts';
import { failureOf, say } from '../../support/calls.ts';
import { type GivenService, messagesOf } from './service-fixture.ts';

export function describeSearch(given: GivenService): void {
  describe('searching', () => {
    let backend: Backend;
    let first: Call;
    let second: Call;
    beforeEach(() => {
      ({ backend, first, second } = given());
    });

    const search = async (
      query: string,
      page: { limit?: number; cursor?: string | null } = {},
      call = first,
    ) => (await backend.archive.searchSessions(call, { query, limit: 50, cursor: null, ...page })).data;
    const found = async (query: string) =>
      (await search(query)).items.flatMap(({ hits }) => hits.map(({ snippet }) => snippet)).sort();

    it('finds sessions, with a snippet around the words', async () => {
      const { session_id } = await say(backend.service, first, 'The quick brown fox jumps.');
      await say(backend.service, first, 'A lazy dog.');
      const { data, body } = await backend.archive.searchSessions(first, {
        query: 'fox',
        limit: 50,
        cursor: null,
      });
      expect(body).toEqual({ success: true, data });
      expect(data).toMatchObject({ next_cursor: null, newest_only: false });
      expect(data.items).toHaveLength(1);
      const [item] = data.items;
      expect(item?.session).toEqual((await backend.service.getSession(first, session_id)).data);
      const messages = await messagesOf(backend, first, session_id);
      expect(item?.hits.map(({ message_id }) => message_id).sort()).toEqual(
        messages.map(({ message_id }) => message_id).sort(),
      );
      expect(new Set(item?.hits.map(({ snippet }) => snippet))).toEqual(
        new Set(['The quick brown ⟦fox⟧ jumps.']),
      );
      expect(new Set(item?.hits.map(({ role }) => role))).toEqual(new Set(['user', 'assistant']));
    });

    it.each([
      ['lazy DOG', 'a lazy dog sleeps', '⟦lazy⟧ ⟦dog⟧'],
      ['"dog sleeps"', 'a lazy dog sleeps', '⟦dog sleeps⟧'],
      ['sle*', 'a lazy dog sleeps', '⟦sleeps⟧'],
      ['resume', 'my Résumé', '⟦Résumé⟧'],
      ['foo_bar', 'call foo_bar(x) here', '⟦foo_bar⟧(x)'],
      ['foo', 'call foo_bar(x) here', '⟦foo⟧_bar'],
      ['東京', '私は昨日東京タワーに行きました。', '昨日⟦東京⟧タワー'],
      ['茶', '毎日お茶', 'お⟦茶⟧'],
      ['東京 api', '東京の API です', '⟦東京⟧の ⟦API⟧'],
    ])('%s finds %s', async (query, message, snippet) => {
      await say(backend.service, first, message);
      expect((await found(query))[0]).toContain(snippet);
    });

    it.each([
      ['cat', 'concatenate'],
      ['"sleeps dog"', 'a lazy dog sleeps'],
      ['dog cat', 'a lazy dog sleeps'],
      ['sleep', 'a lazy dog sleeps'],
      ['京東', '東京'],
      ['東京 zz', '東京の API です'],
    ])('%s does not find %s', async (query, message) => {
      await say(backend.service, first, message);
      expect(await found(query)).toEqual([]);
    });

    it.each([
      'OR',
      'fox OR dog',
      'NOT fox',
      'fox NEAR dog',
      'content:fox zebra',
      '(fox) zebra',
      '^ zebra',
      'a"b"c',
      "fox' zebra",
    ])('no part of %j is an expression', async (query) => {
      await say(backend.service, first, 'the fox and the dog');
      expect(await found(query)).toEqual([]);
    });

    it.each(['', '   ', '++', '"', 'fox "dog', '""', '*', 'x'.repeat(501), 'a\0b', 'a '.repeat(33)])(
      'the query %j is refused',
      async (query) => {
        const error = await failureOf(search(query));
        expect(error.code).toBe('INVALID_REQUEST');
        expect(error.details[0]?.field).toBe('q');
      },
    );

    it('a message with more hits, or a shorter one, comes first; among equals the newer one', async () => {
      const long = await say(backend.service, first, `fox ${'and much else '.repeat(60)}`);
      const older = await say(backend.service, first, 'one fox');
      const newer = await say(backend.service, first, 'our fox');
      const best = await say(backend.service, first, 'fox fox fox');
      const { items } = await search('fox');
      expect(items.map(({ session }) => session.session_id)).toEqual(
        [best, newer, older, long].map(({ session_id }) => session_id),
      );
      const scores = items.map(({ score }) => score);
      expect(scores).toEqual(scores.toSorted((one, other) => other - one));
    });

    it('several pages hold each session once, in the order of a single page', async () => {
      for (let count = 0; count < 7; count++) {
        await say(backend.service, first, `fox ${'fox '.repeat(count % 3)}number ${count}`);
      }
      const whole = (await search('fox')).items.map(({ session }) => session.session_id);
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page: SearchPage = await search('fox', { limit: 3, cursor });
        seen.push(...page.items.map(({ session }) => session.session_id));
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(whole).toHaveLength(7);
      expect(seen).toEqual(whole);
      expect((await failureOf(search('fox', { cursor: 'bogus' }))).code).toBe('INVALID_REQUEST');
      expect((await failureOf(search('fox', { limit: 201 }))).details[0]?.field).toBe('limit');
    });

    it('a deleted session is not found until it is restored', async () => {
      const { session_id } = await say(backend.service, first, 'a fox');
      await backend.service.deleteSession(first, session_id);
      expect((await search('fox')).items).toEqual([]);
      await backend.archive.restoreSession(first, session_id);
      expect((await search('fox')).items).toHaveLength(1);
    });

    it('another project’s messages are not found, and change no score', async () => {
      await say(backend.service, first, 'a fox');
      const alone = await search('fox');
      for (const text of ['fox fox fox', 'a fox in a wood', 'no such word']) {
        await say(backend.service, second, text);
      }
      expect(await search('fox')).toEqual(alone);
      expect((await search('wood')).items).toEqual([]);
    });
  });
}
