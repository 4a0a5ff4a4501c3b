// The behaviour of every store with the settings of a session: its mode, its system prompt and its parameters.
import { describe, expect, it } from 'vitest';
import { readSearchCursor } from '../../src/local/cursors.ts';
import { pageBytes } from '../../src/service/limits.ts';
import type { Session } from '../../src/service/session.ts';
import type { SessionStore, TurnStart } from '../../src/store/session-store.ts';
import {
  at,
  bareSession,
  everySession,
  firstPage,
  newId,
  newProject,
  newSession,
  once,
  placeAfter,
  recordOf,
  search,
  searchFilter,
  startOfTime,
  turnReply,
  turnStart,
} from './store-samples.ts';
import { begin, beginWithEndedLease } from './turn-steps.ts';

const settings = {
  system: 'Answer in French. 🙂',
  parameters: { temperature: 0.5, stop: ['a', null], inner: { b: 1, a: 2 } },
};
const none = { system: null, parameters: {} };

async function settingsAtBegin(store: SessionStore, project: string, start: Partial<TurnStart>) {
  const begun = await store.beginTurn(project, turnStart(start));
  return begun.kind === 'begun' ? begun.settings : begun.kind;
}

export function describeSettings(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: settings`, () => {
    it('stay with a session from its creation on, in every place that shows it', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = newId('ses');
      const made = { session_id, title: 'Größe', now: startOfTime, ...settings };
      const facts = { session_id, title: 'Größe', created_at: at(0), message_count: 0 };
      expect(await store.createSession(project, made, once('made'))).toEqual({ kind: 'done', value: facts });
      const shown = { ...facts, updated_at: at(0), ...bareSession, ...settings };
      expect(await store.findSession(project, session_id)).toEqual(shown);
      expect((await store.listSessions(project, everySession())).items).toEqual([shown]);
      expect((await store.listSessions(project, everySession({ titleMatch: 'Gr*' }))).items).toEqual([shown]);
      expect(await store.restoreSession(project, session_id, null)).toEqual({ kind: 'done', value: shown });
    });

    it('keep parameters as they are: order of names, odd names, and numbers', async () => {
      const store = await open();
      const project = await newProject(store);
      const text = '{"z":1e-7,"a":0.1,"__proto__":{"x":"ä\\u0001"},"":[true,null],"10":10,"2":-0.5}';
      const parameters = JSON.parse(text) as Session['parameters'];
      const session_id = await newSession(store, project, { parameters });
      const found = await store.findSession(project, session_id);
      expect(JSON.stringify(found?.parameters)).toBe(JSON.stringify(parameters));
      expect(JSON.stringify(await settingsAtBegin(store, project, { session_id }))).toBe(
        JSON.stringify({ system: null, parameters }),
      );
    });

    it('come with the begin of a turn, and the mode of each message becomes that of the session', async () => {
      const store = await open();
      const project = await newProject(store);
      const start = turnStart({
        mode: 'one',
        newSession: { session_id: newId('ses'), title: '', ...settings },
      });
      const { session_id } = start.newSession;
      const first = await store.beginTurn(project, start);
      if (first.kind !== 'begun') throw new Error(first.kind);
      expect(first.settings).toEqual(settings);
      // A fallback mode that replies does not become that of the session.
      await store.endTurn(project, first.turn, turnReply({ mode: 'fallback' }));
      const shown = { ...bareSession, ...settings, mode: 'one' };
      expect(await store.findSession(project, session_id)).toMatchObject(shown);
      expect(await settingsAtBegin(store, project, { session_id, mode: 'two' })).toEqual(settings);
      expect(await store.findSession(project, session_id)).toMatchObject({ ...shown, mode: 'two' });
      const { items } = await search(store, project, 'Hello');
      expect(items.map(({ session }) => session)).toEqual([await store.findSession(project, session_id)]);
    });

    it('are empty for a session that was given none', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await newSession(store, project);
      expect(await store.findSession(project, session_id)).toMatchObject(bareSession);
      expect(await settingsAtBegin(store, project, { session_id })).toEqual(none);
      expect(await settingsAtBegin(store, project, {})).toEqual(none);
    });

    it('change one by one, without an activity, and for the turns that begin later', async () => {
      const store = await open();
      const [project, other] = [await newProject(store), await newProject(store)];
      const session_id = await newSession(store, project, { title: 'a', ...settings });
      const before = await store.findSession(project, session_id);
      const change = (changes: Parameters<SessionStore['changeSession']>[2]) =>
        store.changeSession(project, session_id, changes);
      expect(await change({ title: 'b' })).toEqual({ ...before, title: 'b' });
      expect(await change({ system: 'Be brief.' })).toEqual({ ...before, title: 'b', system: 'Be brief.' });
      const parameters = { seed: 7 };
      expect(await change({ parameters })).toMatchObject({ title: 'b', system: 'Be brief.', parameters });
      expect(await settingsAtBegin(store, project, { session_id })).toEqual({
        system: 'Be brief.',
        parameters,
      });
      const cleared = { title: null, system: null, parameters: {} };
      expect(await change(cleared)).toMatchObject({ ...cleared, mode: 'echo', updated_at: at(0) });
      expect(await store.changeSession(other, session_id, settings)).toBeNull();
      expect(await store.findSession(project, session_id)).toMatchObject(none);
      await store.deleteSession(project, session_id, startOfTime);
      expect(await change(settings)).toBeNull();
    });

    it('come with a turn that is taken from an owner that is gone, and with a repeated one', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await newSession(store, project, settings);
      await beginWithEndedLease(store, project, { session_id, mode: 'one', idempotencyKey: once('first') });
      const lease = { owner: 'owner-2', ms: 60_000 };
      const repeated = { session_id, mode: 'one', idempotencyKey: once('first'), lease };
      expect(await settingsAtBegin(store, project, repeated)).toEqual(settings);
      const taking = { session_id, mode: 'two', deadOwner: 'owner-2' };
      expect(await settingsAtBegin(store, project, taking)).toEqual(settings);
      expect(await store.findSession(project, session_id)).toMatchObject({ mode: 'two', message_count: 3 });
      // The repeated message is not the last one, so its mode does not become that of the session.
      const again = { ...repeated, deadOwner: 'owner-1', lease: { owner: 'owner-3', ms: 60_000 } };
      expect(await settingsAtBegin(store, project, again)).toEqual(settings);
      expect(await store.findSession(project, session_id)).toMatchObject({ mode: 'two' });
    });

    it('of an import are those of the record, and compared with those of a stored session', async () => {
      const store = await open();
      const project = await newProject(store);
      const { session, messages } = recordOf(newId('ses'), ['a', 'b']);
      const full = { ...session, ...settings, mode: 'other', parent_id: 'ses_parent', forked_at: 1 };
      const done = { kind: 'done', value: full };
      expect(await store.importSession(project, { session: full, messages }, null)).toEqual(done);
      expect(await store.findSession(project, session.session_id)).toEqual(full);
      const reordered = { temperature: 0.5, inner: { a: 2, b: 1 }, stop: ['a', null] };
      const same = { ...full, parameters: reordered };
      expect(await store.importSession(project, { session: same, messages }, null)).toEqual(done);
      for (const other of [{ system: 'Other' }, { parameters: {} }, { mode: 'echo' }, { forked_at: 0 }]) {
        const changed = { session: { ...full, ...other }, messages };
        expect(await store.importSession(project, changed, null)).toEqual({ kind: 'done', value: null });
      }
    });

    it.each([2, 600])(
      'of an older export with %i messages are empty, and its mode is that of the last message of the user',
      async (length) => {
        const store = await open();
        const project = await newProject(store);
        const texts = Array.from({ length }, (_, index) => `text ${index}`);
        const { session, messages } = recordOf(newId('ses'), texts);
        const { session_id, title, created_at, updated_at, message_count } = session;
        const older = {
          session: { session_id, title, created_at, updated_at, message_count },
          messages: messages.map((message) => ({ ...message, mode: `mode ${message.position}` })),
        };
        const expected = { ...older.session, ...bareSession, mode: `mode ${length - 2}` };
        const done = { kind: 'done', value: expected };
        expect(await store.importSession(project, older, null)).toEqual(done);
        expect(await store.findSession(project, session_id)).toEqual(expected);
        // Settings that the session got meanwhile are not in the older export, which still is the same session.
        const changed = await store.changeSession(project, session_id, settings);
        const again = { kind: 'done', value: { ...expected, ...settings } };
        expect(changed).toEqual(again.value);
        expect(await store.importSession(project, older, null)).toEqual(again);
      },
    );

    it('that are long end a page of sessions early, and no session is lost between pages', async () => {
      const store = await open();
      const project = await newProject(store);
      // Each system prompt takes twice its length as JSON.
      const system = '"'.repeat(64 * 1024);
      const count = 50;
      const ids: string[] = [];
      for (let number = 0; number < count; number += 1) {
        const session = { title: 'long', now: startOfTime + number, system };
        ids.push(await newSession(store, project, session));
        await store.beginTurn(
          project,
          turnStart({ session_id: ids.at(-1) ?? '', now: startOfTime + number }),
        );
      }
      for (const filter of [{}, { titleMatch: 'l*' }, { sort: 'created', order: 'asc' } as const]) {
        const shown: Session[] = [];
        for (let hasMore = true; hasMore; ) {
          const after = shown.length === 0 ? null : placeAfter(shown.at(-1), everySession(filter));
          const page = await store.listSessions(project, everySession({ ...filter, limit: 200, after }));
          expect(Buffer.byteLength(JSON.stringify(page.items))).toBeLessThanOrEqual(pageBytes);
          shown.push(...page.items);
          hasMore = page.hasMore;
        }
        const found = shown.map(({ session_id }) => session_id);
        expect('order' in filter ? found : found.toReversed()).toEqual(ids);
        expect(new Set(shown.map((session) => session.system))).toEqual(new Set([system]));
      }
      const found: string[] = [];
      for (let cursor: string | null = null; found.length === 0 || cursor !== null; ) {
        const filter = searchFilter('Hello', { after: readSearchCursor(cursor), limit: 200 });
        const page = await store.searchSessions(project, filter, new AbortController().signal);
        expect(Buffer.byteLength(JSON.stringify(page.items))).toBeLessThanOrEqual(pageBytes);
        found.push(...page.items.map(({ session }) => session.session_id));
        cursor = page.next_cursor;
      }
      expect(found.toReversed()).toEqual(ids);
    });

    it('do not change what messages hold', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await newSession(store, project, settings);
      await store.endTurn(project, await begin(store, project, { session_id }), turnReply());
      const { items = [] } = (await store.listMessages(project, session_id, firstPage)) ?? {};
      expect(items.map(({ content }) => content)).toEqual(['Hello', 'Hello to you']);
    });
  });
}
