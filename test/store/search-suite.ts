// The searches of every store: what they find, and in which order. The search rule makes the page. Stores that read the same messages for
// it give the same page, to the byte.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSearchCursor } from '../../src/local/cursors.ts';
import { matchFinder } from '../../src/local/search-matches.ts';
import { searchPage } from '../../src/local/search-page.ts';
import { ParleyError } from '../../src/service/errors.ts';
import type { Message } from '../../src/service/session.ts';
import type { SearchPlace } from '../../src/store/session-filters.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import type { SearchReads } from '../../src/store/store-rules.ts';
import { runs } from '../support/runs.ts';
import {
  newId,
  newProject,
  newSession,
  recordOf,
  search,
  searchFilter,
  snippets,
  startOfTime,
  turnReply,
} from './store-samples.ts';
import { begin } from './turn-steps.ts';

const never = new AbortController().signal;

/** A model that keeps the messages in memory, and finds hits by testing every message. */
function readsOfMemory(
  store: SessionStore,
  project: string,
  messages: readonly (Message & { readonly session_id: string })[],
  query: string,
): SearchReads {
  const filter = searchFilter(query);
  const find = matchFinder(filter);
  return {
    async hits() {
      return messages.flatMap(({ session_id, position, content, created_at }, id) => {
        const terms = new Set(find(content).map(({ term }) => term));
        const bytes = Buffer.byteLength(content);
        const found = { id, session_id, position, created_at: Date.parse(created_at), bytes };
        return terms.size === filter.terms.length ? [found] : [];
      });
    },
    async *texts(found) {
      yield found.map(({ id }) => messages[id]?.content ?? null);
    },
    async *shown(sessions) {
      for (const { session_id, messages: ids } of sessions) {
        const session = await store.findSession(project, session_id);
        const shown = ids.flatMap((id) => messages[id] ?? []);
        const hits = shown.map(({ message_id, role, created_at, content }) => ({
          ...{ message_id, role, created_at, content },
        }));
        yield session && { session, messages: hits };
      }
    },
  };
}

const words = [
  'fox',
  'Fox',
  'foxes',
  'dog',
  'Größe',
  'résumé',
  'дом',
  'ملف',
  '東京タワー',
  'お茶',
  '서울',
  'foo_bar',
  'x1',
];
const queries = [
  'fox',
  'fo*',
  'fox dog',
  '"fox dog"',
  'grosse',
  'größe',
  'resume',
  'ДОМ',
  'ملف',
  '東京',
  '茶',
  '서울',
  'foo',
  'x1 fox*',
];

export function describeSearches(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: searches`, () => {
    it('give the same pages as the model in memory, to the byte', async () => {
      const store = await open();
      const project = await newProject(store);
      const texts = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 30 });
      const sample = fc.sample(fc.tuple(texts, fc.nat(3), fc.nat(5)), { numRuns: 30, seed: 7 });
      const messages: (Message & { readonly session_id: string })[] = [];
      const sessions = await Promise.all(Array.from({ length: 6 }, () => newSession(store, project)));
      for (const [said, later, which] of sample) {
        const session_id = sessions[which] ?? '';
        const now = startOfTime + later;
        const turn = await begin(store, project, { session_id, content: said.join(' '), now });
        await store.endTurn(project, turn, turnReply({ content: said.toReversed().join(', '), now }));
      }
      for (const session_id of sessions) {
        const page = await store.listMessages(project, session_id, { limit: 200, after: null });
        messages.push(...(page?.items ?? []).map((message) => ({ ...message, session_id })));
      }
      for (const query of queries) {
        const reads = readsOfMemory(store, project, messages, query);
        for (const limit of [50, 2]) {
          let after: SearchPlace | null = null;
          do {
            const filter = searchFilter(query, { limit, after });
            const page = await store.searchSessions(project, filter, never);
            expect(JSON.stringify(page), query).toBe(JSON.stringify(await searchPage(filter, reads)));
            after = readSearchCursor(page.next_cursor);
          } while (after !== null);
        }
      }
    });

    it('find messages of one project and of active sessions only', async () => {
      const store = await open();
      const [mine, other] = [await newProject(store), await newProject(store)];
      const { session_id } = await begin(store, mine, { content: 'a fox here' });
      await begin(store, other, { content: 'a fox there' });
      const before = await search(store, mine, 'fox');
      expect(before.items.map(({ session }) => session.session_id)).toEqual([session_id]);
      for (let turn = 0; turn < 5; turn += 1) await begin(store, other, { content: 'fox fox fox' });
      expect(await search(store, mine, 'fox')).toEqual(before);
      await store.deleteSession(mine, session_id, startOfTime);
      expect((await search(store, mine, 'fox')).items).toEqual([]);
      await store.restoreSession(mine, session_id, null);
      expect(await search(store, mine, 'fox')).toEqual(before);
    });

    it('order hits with equal scores and times by their ids, whenever they were stored', async () => {
      const store = await open();
      const project = await newProject(store);
      for (const id of ['ses_b', 'ses_c', 'ses_a'])
        await store.importSession(project, recordOf(id, ['a fox', 'a fox', 'a fox', 'a fox']), null);
      const { items } = await search(store, project, 'fox');
      expect(items.map(({ session }) => session.session_id)).toEqual(['ses_c', 'ses_b', 'ses_a']);
      const [first] = items;
      const messages = await store.listMessages(project, 'ses_c', { limit: 4, after: null });
      const newest = messages?.items.map(({ message_id }) => message_id).reverse();
      expect(first?.hits.map(({ message_id }) => message_id)).toEqual(newest?.slice(0, 3));
    });

    it('end when the signal fires', async () => {
      const store = await open();
      const project = await newProject(store);
      await begin(store, project, { content: 'a fox' });
      const stopped = AbortSignal.abort(new Error('stopped'));
      await expect(store.searchSessions(project, searchFilter('fox'), stopped)).rejects.toThrow('stopped');
      expect((await search(store, project, 'fox')).items).toHaveLength(1);
    });

    it('find a reply that replaces a cut one, and no longer the words of the cut one', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project, { content: 'question' });
      await store.endTurn(
        project,
        turn,
        turnReply({ content: 'half 東京 of', finish_reason: 'interrupted' }),
      );
      expect(await snippets(store, project, 'half')).toHaveLength(1);
      await store.endTurn(project, turn, turnReply({ content: 'whole 大阪 now' }));
      expect(await snippets(store, project, 'half')).toEqual([]);
      expect(await snippets(store, project, '東京')).toEqual([]);
      expect(await snippets(store, project, 'whole 大阪')).toEqual(['⟦whole⟧ ⟦大阪⟧ now']);
    });

    it('rank the newest 10,000 hits of a frequent word, and say so', async () => {
      const store = await open();
      const project = await newProject(store);
      const take = (id: string, count: number, content: string) =>
        store.importSession(project, recordOf(id, Array(count).fill(content)), null);
      await take('ses_oldest', 2, 'everywhere everywhere');
      await take('ses_many', 9_998, 'everywhere');
      const all = await search(store, project, 'everywhere');
      expect(all.newest_only).toBe(false);
      expect(all.items.map(({ session }) => session.session_id)).toEqual(['ses_oldest', 'ses_many']);
      // More messages than are indexed at once: their order in the index is not that of their storage.
      await take('ses_newest', 600, 'everywhere');
      const newest = await search(store, project, 'everywhere');
      expect(newest.newest_only).toBe(true);
      expect(newest.items.map(({ session }) => session.session_id)).toEqual(['ses_newest', 'ses_many']);
    });

    it('answer or refuse every query, whatever its text', async () => {
      const store = await open();
      const project = await newProject(store);
      await begin(store, project, { content: 'the fox AND "the" dog* 東京 NEAR(a b) ^x -y {z} col:umn' });
      const piece = fc.oneof(
        fc.constantFrom(...'"* )(^:-+{}\';\\東%_|/', 'AND', 'OR', 'NOT', 'NEAR(', '東京', 'fox'),
        fc.string({ unit: 'binary', maxLength: 3 }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
          try {
            expect((await search(store, project, pieces.join(''))).items.length).toBeLessThanOrEqual(1);
          } catch (error) {
            expect(error).toBeInstanceOf(ParleyError);
            expect((error as ParleyError).code).toBe('INVALID_REQUEST');
          }
        }),
        { numRuns: runs(20, 5_000) },
      );
    });

    it('find a message by each of its words', async () => {
      const store = await open();
      const project = await newProject(store);
      const word = fc.stringMatching(/^[a-zäöüéñA-Z0-9а-я]{1,8}$/);
      await fc.assert(
        fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 6 }), async (words) => {
          const mark = newId('mark').replaceAll('_', 'x');
          await begin(store, project, { content: `${words.join(', ')} ${mark}` });
          for (const one of words) expect(await snippets(store, project, `${one} ${mark}`)).toHaveLength(1);
        }),
        { numRuns: runs(8, 1_000) },
      );
    });

    it('show the first hit of a long text, wherever it stands, and no longer word that a cut made equal', async () => {
      const store = await open();
      const project = await newProject(store);
      const filling = 'word '.repeat(1637);
      // The first part that is searched ends inside "catalogue".
      await begin(store, project, { content: `${filling}  a catalogue ${filling.repeat(3)} the cat sat` });
      const [snippet = ''] = await snippets(store, project, 'cat');
      expect(snippet).toContain('the ⟦cat⟧ sat');
    });
  });
}
