// The rows that every store reads and writes for a copy, exactly.
import { describe, expect, it } from 'vitest';
import { hashKey } from '../../src/local/api-keys.ts';
import type { BackedUpModes } from '../../src/local/backup-lines.ts';
import { sessionHeads } from '../../src/local/copied-texts.ts';
import { backUpStore } from '../../src/local/store-backup.ts';
import { restoreStore } from '../../src/local/store-restoring.ts';
import type { BackupFacts } from '../../src/service/backup-report.ts';
import type { Message } from '../../src/service/session.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import {
  type PartPlace,
  pageLimits,
  type SessionHead,
  type SessionPart,
  type StoreRowReads,
  type StoreRows,
} from '../../src/store/store-rows.ts';
import type { NewPlace } from './every-store.ts';
import {
  another,
  everyMessage,
  forkId,
  forkOf,
  moveOf,
  regeneration,
  sessionOf,
  turnOf,
} from './line-samples.ts';
import {
  bareSession,
  everySession,
  newId,
  newKey,
  newProject,
  once,
  recordOf,
  snippets,
  startOfTime,
  turnReply,
  turnStart,
} from './store-samples.ts';
import { begin, contents } from './turn-steps.ts';

interface Kept {
  readonly project: string;
  readonly other: string;
  readonly answered: string;
  readonly open: string;
  readonly deleted: string;
  readonly long: string;
}

/** A store with a row of every kind. */
async function filled(store: SessionStore): Promise<Kept> {
  const { project_id: project } = await store.createKey(newKey({ hash: hashKey('mine') }));
  const { project_id: other, key_id } = await store.createKey(newKey({ hash: hashKey('revoked') }));
  await store.revokeKey(key_id, startOfTime + 5);
  const turn = await begin(store, project, { idempotencyKey: once('turn'), content: 'Größe 🙂' });
  const failed = { finish_reason: 'error', error_code: 'ENGINE_FAILED', first_token_ms: 7 } as const;
  await store.endTurn(project, turn, turnReply({ ...failed, usage: { input_tokens: 3, output_tokens: 0 } }));
  const answered = newId('ses');
  await store.createSession(
    project,
    {
      ...{ session_id: answered, title: 'answered', now: startOfTime },
      ...{ system: 'Größe', parameters: { b: 1, a: [0.5] }, user: 'Jäne Döe' },
    },
    once('made'),
  );
  const { session_id: open } = await begin(store, project, { content: 'open' });
  const order = { pinned: true, archived: true, tags: ['größe', 'work'] };
  await store.orderSessions(project, [answered], order, 'done', null);
  const deleted = newId('ses');
  await store.importSession(other, recordOf(deleted, ['gone', 'yes'], 'deleted'), null);
  await store.deleteSession(other, deleted, startOfTime + 9);
  const long = newId('ses');
  const texts = Array.from({ length: pageLimits.messages + 300 }, (_, index) => `text ${index}`);
  await store.importSession(project, recordOf(long, texts), null);
  return { project, other, answered, open, deleted, long };
}

/** A session of a store whose sessions had no settings. */
function olderPart(session_id: string, messages: readonly Message[]): SessionPart {
  const message_count = messages.length;
  const isOpen = messages.at(-1)?.role === 'user';
  return {
    session: {
      ...{ session_id, title: null, created_at: startOfTime, updated_at: startOfTime, message_count },
      ...{
        deleted_at: null,
        turn_position: isOpen ? message_count - 1 : null,
        turn_epoch: 1,
        undone_turns: 0,
      },
      ...{ mode: null, parent_id: null, forked_at: null, parameters: null, system: null },
      ...{ pinned: false, archived: false, tags: null, user_id: null },
    },
    messages: messages.map(({ usage: _, ...message }) => ({
      ...{ ...message, error_code: null, first_token_ms: null, created_at: startOfTime },
      ...{ input_tokens: null, output_tokens: null, is_copy: false, alternative_of: null, undone_at: null },
    })),
  };
}

/** The sessions, with the parts of each joined. */
async function sessionsOf(rows: StoreRowReads, projectId: string): Promise<readonly SessionPart[]> {
  const sessions: SessionPart[] = [];
  let place: PartPlace | null = null;
  do {
    const page: Awaited<ReturnType<StoreRows['readParts']>> = await rows.readParts(projectId, place);
    for (const { session, messages } of page.parts) {
      const last = sessions.at(-1);
      if (last?.session.session_id !== session.session_id) sessions.push({ session, messages });
      else sessions.splice(-1, 1, { session, messages: [...last.messages, ...messages] });
    }
    place = page.next;
  } while (place !== null);
  return sessions;
}

async function headsOf(rows: StoreRows, projectId: string): Promise<readonly SessionHead[]> {
  const heads: SessionHead[] = [];
  for await (const head of sessionHeads(rows, projectId)) heads.push(head);
  return heads;
}

async function copyAll(from: StoreRows, to: StoreRows, projects: readonly string[]): Promise<void> {
  await to.addProjects(await from.projects());
  await to.addKeys(await from.keys());
  for (const project of projects) {
    await to.addParts(project, await sessionsOf(from, project));
    await to.addIdempotency(project, await from.readIdempotency(project, null));
  }
}

const nobody = { begin: () => {}, finish: () => {} };
const reading = { place: 'a test', progress: nobody, signal: new AbortController().signal };

async function backedUp(original: StoreRows, modes: BackedUpModes): Promise<readonly [string, BackupFacts]> {
  let text = '';
  const facts = await backUpStore({
    ...{ original, modes, from: 'a test', withKeys: true, now: () => startOfTime },
    ...{ progress: nobody, signal: reading.signal },
    write: async (part) => {
      text += part;
    },
  });
  return [text, facts];
}

/** Pieces that end anywhere, also within a character. */
async function* inPieces(text: string): AsyncGenerator<Uint8Array, void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 4099) yield bytes.subarray(at, at + 4099);
}

export function describeRows(name: string, newPlace: NewPlace): void {
  describe(`${name}: rows`, () => {
    it('are copied unchanged, and the copy can be used like the first store', async () => {
      const [one, two] = [await newPlace(), await newPlace()];
      const { project, other, answered, open, deleted, long } = await filled(await one.open());
      const [from, to] = [await one.openRows(), await two.openRows()];
      for (let times = 0; times < 2; times += 1) await copyAll(from, to, [project, other]);
      expect(await to.projects()).toEqual(await from.projects());
      expect(await to.keys()).toEqual(await from.keys());
      for (const id of [project, other]) {
        const copied = await sessionsOf(to, id);
        expect(copied).toEqual(await sessionsOf(from, id));
        expect(await headsOf(to, id)).toEqual(copied.map(({ session }) => session));
        expect(await to.count(id)).toEqual(await from.count(id));
        expect(copied.map(({ session }) => session.session_id)).toEqual(
          copied.map(({ session }) => session.session_id).sort(),
        );
      }
      const copiedLong = (await sessionsOf(to, project)).find(({ session }) => session.session_id === long);
      expect(copiedLong?.messages).toHaveLength(pageLimits.messages + 300);

      const store = await two.open();
      expect((await store.findKey(hashKey('mine')))?.project_id).toBe(project);
      expect(await store.findKey(hashKey('revoked'))).toBeNull();
      expect(await snippets(store, project, '"text 2042"')).toEqual(['⟦text 2042⟧']);
      const tagged = await store.listSessions(project, everySession({ tag: 'größe', archived: true }));
      expect(tagged.items).toMatchObject([
        { session_id: answered, pinned: true, archived: true, tags: ['größe', 'work'] },
      ]);
      const trash = await store.listSessions(other, everySession({ deleted: true }));
      expect(trash.items.map(({ session_id }) => session_id)).toEqual([deleted]);
      const again = { session_id: newId('ses'), title: 'answered', now: startOfTime };
      expect(await store.createSession(project, again, once('made'))).toMatchObject({
        value: { session_id: answered },
      });
      expect(await store.beginTurn(project, turnStart({ idempotencyKey: once('turn', 'other') }))).toEqual({
        kind: 'mismatch',
      });
      // No process runs the copied open turn.
      await begin(store, project, { session_id: open, content: 'on', lease: { owner: 'owner-2', ms: 1000 } });
      expect(await contents(store, project, open)).toEqual(['user: open', 'interrupted: ', 'user: on']);
    });

    it('are all read as they were at one moment, while others write', async () => {
      const place = await newPlace();
      const store = await place.open();
      const { project, open } = await filled(store);
      const rows = await place.openRows();
      const before = await sessionsOf(rows, project);
      const answers = await rows.readIdempotency(project, null);
      await rows.atOneMoment(async (moment) => {
        expect(await moment.projects()).toHaveLength(2);
        await begin(store, project, { content: 'later', idempotencyKey: once('later') });
        await store.deleteSession(project, open, startOfTime + 20);
        await store.createKey(newKey({ hash: hashKey('later') }));
        expect(await sessionsOf(moment, project)).toEqual(before);
        expect(await moment.count(project)).toEqual({
          sessions: before.length,
          messages: before.flatMap(({ messages }) => messages).length,
        });
        expect(await moment.keys()).toHaveLength(2);
        expect((await moment.readIdempotency(project, null)).map(({ key }) => key)).toEqual(
          answers.map(({ key }) => key),
        );
        expect(await moment.readIdempotency(project, answers.at(-1)?.key ?? null)).toEqual([]);
      });
      expect(await sessionsOf(rows, project)).toHaveLength(before.length + 1);
      await expect(rows.atOneMoment(() => Promise.reject(new Error('of the caller')))).rejects.toThrow(
        /^of the caller$/,
      );
    });

    it('are backed up, and restored to another store unchanged', async () => {
      const [one, two] = [await newPlace(), await newPlace()];
      const { project, other } = await filled(await one.open());
      const [from, to] = [await one.openRows(), await two.openRows()];
      const modes = { default_mode: 'm', modes: { m: { model: 'Größe' } } };
      const [text, facts] = await backedUp(from, modes);
      const restored = await restoreStore({ ...reading, chunks: inPieces(text), rows: to, earlierKeys: [] });
      expect(restored).toEqual({ facts, modes, keys: { restored: 2, kept: 0 } });
      expect(await to.projects()).toEqual(await from.projects());
      expect(await to.keys()).toEqual(await from.keys());
      for (const id of [project, other]) expect(await sessionsOf(to, id)).toEqual(await sessionsOf(from, id));
      const [again] = await backedUp(to, modes);
      const withoutAges = (backup: string) =>
        backup
          .split('\n')
          .slice(1, -2)
          .map((line) => line.replace(/"age_ms":[\d.]+/, ''));
      expect(withoutAges(again)).toEqual(withoutAges(text));
    });

    it('of hidden messages are copied with their keys and their forks, and can be brought back', async () => {
      const [one, two] = [await newPlace(), await newPlace()];
      const original = await one.open();
      const { project_id: project } = await original.createKey(newKey());
      const usage = { input_tokens: 1, output_tokens: 2 };
      const { session_id } = await turnOf(original, project, null, 'a', { usage });
      const again = regeneration(session_id, { idempotencyKey: once('again') });
      await another(original, project, session_id, { content: 'again', usage }, again);
      await another(original, project, session_id, { content: 'B', usage });
      const turn = await begin(original, project, {
        session_id,
        content: 'b',
        idempotencyKey: once('undone'),
      });
      await original.endTurn(project, turn, turnReply({ content: 'to b', usage }));
      await original.undoTurn(project, moveOf(session_id, { idempotencyKey: once('undo') }));
      const forked = forkId(await original.forkSession(project, forkOf(session_id), once('fork')));
      const [from, to] = [await one.openRows(), await two.openRows()];
      for (let times = 0; times < 2; times += 1) await copyAll(from, to, [project]);
      expect(await sessionsOf(to, project)).toEqual(await sessionsOf(from, project));
      expect(await to.count(project)).toEqual({ sessions: 2, messages: 8 });
      expect((await to.readIdempotency(project, null)).map(({ age_ms: _, ...row }) => row)).toEqual(
        (await from.readIdempotency(project, null)).map(({ age_ms: _, ...row }) => row),
      );

      const store = await two.open();
      expect(await everyMessage(store, project, session_id)).toEqual(
        await everyMessage(original, project, session_id),
      );
      expect(await store.usage(0, 'mode')).toEqual(await original.usage(0, 'mode'));
      const repeated = turnStart({ session_id, idempotencyKey: once('undone') });
      expect(await store.beginTurn(project, repeated)).toMatchObject({
        ...{ kind: 'answered', reply: { content: 'to b' } },
      });
      expect(await store.beginRegeneration(project, { ...again, reply_id: newId('reply') })).toMatchObject({
        ...{ kind: 'answered', reply: { message_id: again.reply_id } },
      });
      expect(await store.forkSession(project, forkOf(session_id), once('fork'))).toMatchObject({
        value: { session_id: forked },
      });
      await store.redoTurn(project, moveOf(session_id));
      expect(await contents(store, project, session_id)).toEqual([
        ...['user: a', 'stop: B', 'user: b', 'stop: to b'],
      ]);
      await to.removeSessions(project, [session_id]);
      expect((await to.readIdempotency(project, null)).map(({ key }) => key)).toEqual(['fork', 'undo']);
    });

    it('are read in pages of limited bytes, from any place', async () => {
      const place = await newPlace();
      const store = await place.open();
      const { project_id } = await store.createKey(newKey());
      const ids = [newId('ses'), newId('ses'), newId('ses')];
      const texts = Array.from({ length: 4 }, () => 'x'.repeat(pageLimits.textBytes / 2));
      for (const id of ids) await store.importSession(project_id, recordOf(id, texts), null);
      const rows = await place.openRows();
      const first = await rows.readParts(project_id, null);
      expect(first.parts.flatMap(({ messages }) => messages)).toHaveLength(2);
      expect(first.next).toMatchObject({ session_id: ids[0], message: { position: 2 } });
      const sessions = await sessionsOf(rows, project_id);
      expect(sessions.map(({ messages }) => messages.map(({ position }) => position))).toEqual(
        ids.map(() => [0, 1, 2, 3]),
      );
      const last = await rows.readParts(project_id, { session_id: ids[1] as string, message: null });
      expect(last.parts.map(({ session }) => session.session_id)).toEqual([ids[2]]);
    });

    it('come in pages that long settings end early, each session once', async () => {
      const place = await newPlace();
      const store = await place.open();
      const { project_id } = await store.createKey(newKey());
      const system = 'é'.repeat(32 * 1024);
      const settings = { system, mode: 'echo', parent_id: 'ses_parent', forked_at: 3 };
      for (let number = 0; number < 70; number += 1) {
        const { session, messages } = recordOf(newId('ses'), number % 9 === 0 ? ['a', 'b'] : []);
        await store.importSession(project_id, { session: { ...session, ...settings }, messages }, null);
      }
      const rows = await place.openRows();
      const first = await rows.readParts(project_id, null);
      expect(first.parts).toHaveLength(pageLimits.textBytes / Buffer.byteLength(system));
      const sessions = await sessionsOf(rows, project_id);
      expect(sessions).toHaveLength(70);
      expect(await headsOf(rows, project_id)).toEqual(sessions.map(({ session }) => session));
      expect(new Set(sessions.map(({ session }) => session.session_id)).size).toBe(70);
      for (const { session, messages } of sessions) {
        expect(session).toMatchObject(settings);
        expect(messages).toHaveLength(session.message_count);
      }
    });

    it('of a session whose mode is not stored give it the mode of the last message of the user', async () => {
      const place = await newPlace();
      const store = await place.open();
      const { project_id } = await store.createKey(newKey());
      const rows = await place.openRows();
      const texts = ['a', 'b', 'c'];
      for (const count of [0, 1, 2, 3]) {
        const session_id = newId('ses');
        const { messages } = recordOf(session_id, texts.slice(0, count));
        const modes = messages.map((message) => ({ ...message, mode: `mode ${message.position}` }));
        await rows.addParts(project_id, [olderPart(session_id, modes)]);
        const mode = count === 0 ? null : count === 3 ? 'mode 2' : 'mode 0';
        const found = await store.findSession(project_id, session_id);
        expect(found).toMatchObject({ ...bareSession, mode });
        const { items } = await store.listSessions(project_id, everySession());
        expect(items.find((session) => session.session_id === session_id)).toEqual(found);
        await begin(store, project_id, { session_id, mode: 'new', deadOwner: 'copy' });
        expect((await store.findSession(project_id, session_id))?.mode).toBe('new');
      }
    });

    it('of a session that an older server has gone on with after an undo bring no turn back', async () => {
      const place = await newPlace();
      const store = await place.open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a', 'b', 'c']);
      for (let times = 0; times < 2; times += 1) await store.undoTurn(project, moveOf(session_id));
      await turnOf(store, project, session_id, 'd');
      const rows = await place.openRows();
      const [part] = await sessionsOf(rows, project);
      if (part === undefined) throw new Error('The session is not read.');
      await rows.removeSessions(project, [session_id]);
      // A server of a schema without undo does not count the undone turns anew.
      await rows.addParts(project, [{ ...part, session: { ...part.session, undone_turns: 2 } }]);
      expect(await store.redoTurn(project, moveOf(session_id))).toEqual({ kind: 'nothing' });
      await store.undoTurn(project, moveOf(session_id));
      expect(await store.redoTurn(project, moveOf(session_id))).toMatchObject({
        ...{ kind: 'done', value: { message: { content: 'd' } } },
      });
      expect(await store.redoTurn(project, moveOf(session_id))).toEqual({ kind: 'nothing' });
      expect(await contents(store, project, session_id)).toEqual([
        'user: a',
        'stop: A',
        'user: d',
        'stop: D',
      ]);
    });

    it('of sessions are removed with all rows that name them, and a note stays until the next one', async () => {
      const place = await newPlace();
      const { project, long, open } = await filled(await place.open());
      const rows = await place.openRows();
      const all = await sessionsOf(rows, project);
      await rows.removeSessions(project, [long, open, 'ses_none']);
      const left = all.filter(({ session }) => ![long, open].includes(session.session_id));
      expect(await sessionsOf(rows, project)).toEqual(left);
      await rows.removeSessions(
        project,
        left.map(({ session }) => session.session_id),
      );
      // The stored answer of the creation belongs to no message, so it stays.
      expect((await rows.readIdempotency(project, null)).map(({ key }) => key)).toEqual(['made']);
      expect(await rows.copyNote()).toBeNull();
      await rows.setCopyNote('one');
      await rows.setCopyNote('two');
      expect(await rows.copyNote()).toBe('two');
    });
  });
}
