// Random conversations of two projects, with other replies, undo, redo, forks, deletions, purges and turns whose process died: what was
// acknowledged is readable, an engine gets exactly the visible line, a fork changes nothing but itself, and no project sees another's.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import type { ChatEvent } from '../../src/service/chat-event.ts';
import { ParleyError } from '../../src/service/errors.ts';
import { isHidden, type Message } from '../../src/service/session.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { regeneration } from '../store/line-samples.ts';
import { turnStart } from '../store/store-samples.ts';
import { callWith, failureOf } from '../support/calls.ts';
import { engineOf, newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { runs } from '../support/runs.ts';
import { type ModelReply, ModelSession, textOf } from './lines-model.ts';

const kinds = [
  ...['chat', 'chat', 'chat', 'regenerate', 'regenerate', 'undo', 'undo', 'redo', 'redo', 'fork', 'repeat'],
  ...['abandon', 'abandon another', 'delete', 'restore', 'purge'],
] as const;
const operation = fc.record({
  kind: fc.constantFrom(...kinds),
  session: fc.nat(3),
  finish: fc.constantFrom('stop', 'stop', 'error', 'interrupted'),
  at: fc.nat(5),
});
type Operation = typeof operation extends fc.Arbitrary<infer One> ? One : never;

let backend: EmbeddedBackend;
let store: SessionStore;
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
/** How the next reply ends, and what its engine was given. */
let finish: ModelReply['finish'] = 'stop';
let given: readonly string[] = [];
let stop = new AbortController();
let count = 0;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const engines = engineOf(async function* ({ history, message }) {
    given = [...history.map(({ content }) => content), message];
    yield { type: 'text', text: `reply ${count}` };
    if (finish === 'error') throw new ParleyError('ENGINE_FAILED', 'The engine failed.');
    if (finish === 'interrupted') stop.abort(new Error('stopped'));
    yield { type: 'finish', reason: 'stop', usage: null };
  });
  backend = await openEmbedded(directory.path, {
    engines,
    owner: { id: 'this', isGone: (owner) => owner === 'gone' },
    around: (opened) => {
      store = opened;
      return opened;
    },
  });
});
afterAll(async () => {
  await backend.close();
  await directory.remove();
});

class Run {
  readonly #key: string;
  readonly #other: string;
  readonly #project: string;
  readonly #sessions: ModelSession[] = [];
  /** The text of each acknowledged message of a session, by its id. */
  readonly #said = new Map<string, Map<string, string>>();

  constructor(key: string, other: string, project: string) {
    this.#key = key;
    this.#other = other;
    this.#project = project;
  }

  async step({ kind, session: number, finish: ends, at }: Operation): Promise<void> {
    count += 1;
    finish = ends;
    const session = this.#sessions[number];
    if (session === undefined) {
      if (kind !== 'chat') return;
      const empty = new ModelSession('');
      await this.#chat(empty, null);
      return;
    }
    if (kind === 'restore') {
      await backend.archive.restoreSession(this.#call(), session.id);
      session.isDeleted = false;
    } else if (session.isDeleted) await this.#purgeOrRefuse(kind, session);
    else if (kind === 'chat') await this.#chat(session, `key-${count}`);
    else if (kind === 'repeat') await this.#repeat(session, at);
    else if (kind === 'regenerate') await this.#regenerate(session);
    else if (kind === 'undo' || kind === 'redo') await this.#move(session, kind);
    else if (kind === 'fork') await this.#fork(session, at);
    else if (kind === 'abandon' || kind === 'abandon another') await this.#abandon(session, kind);
    else if (kind === 'delete') {
      await backend.service.deleteSession(this.#call(), session.id);
      session.isDeleted = true;
    }
  }

  /** Every session is as its model, in all pages, and the other project sees none. */
  async compare(): Promise<void> {
    for (const session of this.#sessions.filter(({ isDeleted }) => !isDeleted)) {
      const all = await this.#messages(session.id, true);
      const visible = all.filter((message) => !isHidden(message));
      expect(visible.map(described)).toEqual(session.visible());
      expect(await this.#messages(session.id, false)).toEqual(visible);
      const asked = new Map(all.map(({ message_id, content }) => [message_id, content]));
      const hidden = all.filter(isHidden).map((message) => {
        const { alternative_of } = message;
        if (alternative_of === undefined) return `undone ${described(message)}`;
        return `alternative of ${asked.get(alternative_of)}: ${described(message)}`;
      });
      expect(hidden.sort()).toEqual(session.hidden());
      for (const [id, text] of this.#said.get(session.id) ?? []) expect(asked.get(id)).toBe(text);
      const other = callWith(this.#other);
      const page = { limit: 10, cursor: null, all: true };
      expect((await failureOf(backend.archive.listMessages(other, session.id, page))).code).toBe(
        'SESSION_NOT_FOUND',
      );
    }
  }

  /** What an export holds is the same after its import in the other project. */
  async copy(): Promise<void> {
    for (const { id, isDeleted } of this.#sessions) {
      if (isDeleted) continue;
      const all = await this.#messages(id, true);
      const session = (await backend.service.getSession(this.#call(), id)).data;
      const messages = all.filter((message) => !isHidden(message));
      const hidden_messages = all.filter(isHidden);
      const other = callWith(this.#other);
      for (let times = 0; times < 2; times += 1)
        await backend.archive.importSession(other, { session, messages, hidden_messages });
      expect(await this.#messages(id, true, this.#other)).toEqual(all);
    }
  }

  #call(idempotencyKey: string | null = null) {
    return callWith(this.#key, { signal: stop.signal, idempotencyKey });
  }

  /** Runs a turn to its end. Returns its reply as it must be stored, and its last event. */
  async #run(asked: string, events: AsyncIterable<ChatEvent>): Promise<ChatEvent | undefined> {
    let last: ChatEvent | undefined;
    try {
      for await (const event of events) {
        last = event;
        if (event.event !== 'session' && event.event !== 'done') continue;
        const { session_id, message_id } = event.data;
        const texts = this.#said.get(session_id) ?? new Map<string, string>();
        this.#said.set(session_id, texts.set(message_id, event.event === 'done' ? event.data.reply : asked));
      }
      expect(finish).toBe('stop');
    } catch (error) {
      if (finish === 'error') expect(error).toMatchObject({ code: 'ENGINE_FAILED' });
      else if (finish === 'interrupted') expect(error).toBe(stop.signal.reason);
      else throw error;
      stop = new AbortController();
    }
    return last;
  }

  #reply(): ModelReply {
    return { content: `reply ${count}`, finish };
  }

  async #chat(session: ModelSession, key: string | null): Promise<void> {
    const message = `message ${count}`;
    const request = { mode: 'test', message, session_id: session.id === '' ? null : session.id };
    let id = session.id;
    const noted = async function* (events: AsyncIterable<ChatEvent>) {
      for await (const event of events) {
        if (event.event === 'session') id = event.data.session_id;
        yield event;
      }
    };
    await this.#run(message, noted(backend.service.chat(this.#call(key), request, 'chunks')));
    const own = session.id === '' ? new ModelSession(id) : session;
    if (own !== session) this.#sessions.push(own);
    const turn = own.ask(message, key);
    expect(given).toEqual([...contents(own.contextBefore(turn)), message]);
    own.answer(turn, this.#reply());
  }

  async #repeat(session: ModelSession, at: number): Promise<void> {
    const turns = [...session.line, ...session.undone].filter(({ key }) => key !== null);
    const turn = turns[at % Math.max(1, turns.length)];
    if (turn === undefined) return;
    const request = { mode: 'test', message: turn.asked, session_id: session.id };
    const isUndone = session.undone.includes(turn);
    const answer = turn.first ?? (isUndone ? turn.reply : null);
    given = [];
    if (answer !== null) finish = 'stop';
    const last = await this.#run(turn.asked, backend.service.chat(this.#call(turn.key), request, 'whole'));
    if (answer !== null) {
      expect(given).toEqual([]);
      expect(last).toMatchObject({
        event: 'done',
        data: { reply: answer.content, finish_reason: answer.finish },
      });
      return;
    }
    session.close(turn);
    session.redoable = [];
    expect(given).toEqual([...contents(session.contextBefore(turn)), turn.asked]);
    session.answer(turn, this.#reply());
  }

  async #regenerate(session: ModelSession): Promise<void> {
    const turn = session.line.at(-1);
    const events = backend.archive.regenerate(this.#call(), session.id, { mode: 'test' }, 'chunks');
    if (turn === undefined) {
      const failure = await failureOf(this.#first(events));
      expect(failure.code).toBe('INVALID_REQUEST');
      return;
    }
    await this.#run(turn.asked, events);
    session.redoable = [];
    expect(given).toEqual([...contents(session.contextBefore(turn)), turn.asked]);
    session.answer(turn, this.#reply());
  }

  async #first(events: AsyncIterable<ChatEvent>): Promise<void> {
    for await (const _ of events) return;
  }

  async #move(session: ModelSession, kind: 'undo' | 'redo'): Promise<void> {
    const turn = session[kind]();
    const moved = backend.archive[`${kind}Turn`](this.#call(), session.id);
    if (turn === undefined) {
      expect((await failureOf(moved)).code).toBe('INVALID_REQUEST');
      return;
    }
    const { data } = await moved;
    expect(data.message.content).toBe(turn.asked);
    expect(data.session.message_count).toBe(session.visible().length);
  }

  async #fork(session: ModelSession, at: number): Promise<void> {
    const through = at % 2 === 0 ? undefined : at;
    const answered = session.line.filter(({ reply }) => reply !== null);
    const copied = through === undefined ? answered : answered.slice(0, (through + 1) / 2);
    const request = through === undefined ? {} : { through };
    const forked = backend.archive.forkSession(this.#call(), session.id, request);
    if (copied.length === 0 || copied.length * 2 <= (through ?? 0)) {
      expect((await failureOf(forked)).code).toBe('INVALID_REQUEST');
      return;
    }
    const { data } = await forked;
    expect(data).toMatchObject({ parent_id: session.id, forked_at: copied.length * 2 - 1 });
    this.#sessions.push(new ModelSession(data.session_id, copied));
  }

  /** A process begins a turn and dies. */
  async #abandon(session: ModelSession, kind: 'abandon' | 'abandon another'): Promise<void> {
    const lease = { owner: 'gone', ms: 60_000 };
    const { id: session_id } = session;
    const common = { lease, deadOwner: 'gone', mode: 'test', now: Date.now() };
    if (kind === 'abandon') {
      const start = turnStart({ ...common, session_id, content: `message ${count}` });
      expect(await store.beginTurn(this.#project, start)).toMatchObject({ kind: 'begun' });
      session.ask(`message ${count}`, null);
    } else {
      const begun = await store.beginRegeneration(this.#project, regeneration(session_id, common));
      expect(begun.kind).toBe(session.line.length === 0 ? 'empty' : 'begun');
      if (begun.kind === 'begun') session.redoable = [];
    }
  }

  async #purgeOrRefuse(kind: string, session: ModelSession): Promise<void> {
    if (kind === 'undo' || kind === 'redo') {
      const moved = backend.archive[`${kind}Turn`](this.#call(), session.id);
      expect((await failureOf(moved)).code).toBe('SESSION_NOT_FOUND');
    }
    if (kind !== 'purge') return;
    const deleted = this.#sessions.filter(({ isDeleted }) => isDeleted);
    const deletedBefore = Date.now() + 1000;
    const filter = { projectId: this.#project, deletedBefore };
    const { sessions } = await store.planPurge(filter);
    expect(sessions).toBeLessThanOrEqual(deleted.length);
    await store.purgeSessions(filter, { expected: sessions, keptSince: 0 });
    const left = await Promise.all(deleted.map(({ id }) => store.holdsAny(this.#project, [id])));
    for (const [index, { id }] of deleted.entries())
      if (!left[index])
        this.#sessions.splice(
          this.#sessions.findIndex((one) => one.id === id),
          1,
        );
  }

  async #messages(session: string, all: boolean, key = this.#key): Promise<readonly Message[]> {
    const messages: Message[] = [];
    let cursor: string | null = null;
    do {
      const query = { limit: 3, cursor, ...(all && { all }) };
      const page: Awaited<ReturnType<typeof backend.archive.listMessages>> =
        await backend.archive.listMessages(callWith(key), session, query);
      messages.push(...page.data.items);
      cursor = page.data.next_cursor;
    } while (cursor !== null);
    return messages;
  }
}

function described({ content, finish_reason }: Message): string {
  if (finish_reason === null) return content;
  return textOf({ content, finish: finish_reason as ModelReply['finish'] });
}

/** The texts of a line without the ends of the replies. */
function contents(texts: readonly string[]): readonly string[] {
  return texts.map((text) => text.replace(/^(stop|error|interrupted): /, ''));
}

test('keep what was acknowledged, and send the visible line, whatever is done with them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 30 }), async (operations) => {
      const [key, other] = [await newKey(backend, `p${count}`), await newKey(backend, `q${count}`)];
      const { project_id } = (await backend.service.verify(callWith(key))).data;
      count += 1;
      const run = new Run(key, other, project_id);
      for (const one of operations) {
        await run.step(one);
        await run.compare();
      }
      await run.copy();
    }),
    { numRuns: runs(4, 400) },
  );
  expect((await backend.administration.inspectStore()).integrity).toBe('ok');
});
