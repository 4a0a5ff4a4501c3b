// Random conversations of two projects, with other replies, undo, redo, forks, deletions, purges and turns whose process died: what was
// acknowledged is readable, an engine gets exactly the visible line, a fork changes nothing but itself, and no project sees another's.
import { once } from 'node:events';
import fc from 'fast-check';
import { expect, vi } from 'vitest';
import type { EngineSet } from '../../src/engine/engine-set.ts';
import type { Backend } from '../../src/service/backend.ts';
import type { ChatEvent } from '../../src/service/chat-event.ts';
import { ParleyError } from '../../src/service/errors.ts';
import { isHidden, type Message } from '../../src/service/session.ts';
import type { SessionArchive } from '../../src/service/session-archive.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { type ModelReply, ModelSession, textOf } from '../local/lines-model.ts';
import { regeneration } from '../store/line-samples.ts';
import { turnStart } from '../store/store-samples.ts';
import { callWith, failureOf } from '../support/calls.ts';
import { engineOf } from '../support/embedded.ts';

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

/** A service under test. Its mode is that of {@link ScriptedEngine}, and it knows that the owner `gone` is dead. */
export interface LinesPlace {
  readonly backend: Backend;
  readonly engine: ScriptedEngine;
  /** The store of the service, in which other processes begin turns. */
  readonly store: SessionStore;
  /** A key for a new project. */
  newKey(): Promise<string>;
  /** True: a reply that is cut by its caller is stored soon after the caller has left. */
  readonly cutsLater: boolean;
  /** After every so many operations, all sessions are compared. */
  readonly comparedEach: number;
  readonly purges: boolean;
}

/** The engine of the mode `test`. It notes what it was given, and its next reply ends as the test says. */
export class ScriptedEngine {
  finish: ModelReply['finish'] = 'stop';
  given: readonly string[] = [];
  text = '';
  readonly engines: EngineSet;

  constructor() {
    const engine = this;
    this.engines = engineOf(async function* ({ history, message }, signal) {
      const { finish, text } = engine;
      engine.given = [...history.map(({ content }) => content), message];
      yield { type: 'text', text };
      if (finish === 'error') throw new ParleyError('ENGINE_FAILED', 'The engine failed.');
      // The caller stops when it has got the text.
      if (finish === 'interrupted' && !signal.aborted) await once(signal, 'abort');
      yield { type: 'finish', reason: 'stop', usage: null };
    });
  }
}

const stopped = new Error('stopped');
let projects = 0;

/** Plays random operations and compares all sessions with their models. */
export async function playRandomLines(place: LinesPlace, numRuns: number, maxLength = 40): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength }), async (operations) => {
      const [key, other] = [await place.newKey(), await place.newKey()];
      const { project_id } = (await place.backend.service.verify(callWith(key))).data;
      const run = new Run(place, key, other, project_id);
      for (const [index, one] of operations.entries()) {
        await run.step(one);
        // Then no turn runs any more.
        if (place.cutsLater && place.engine.finish === 'interrupted') await run.compareAll();
        if (index % place.comparedEach === 0) await run.compareAll();
      }
      await run.compareAll();
      await run.copy();
    }),
    { numRuns, endOnFailure: place.cutsLater },
  );
}

/** A name that no other project has. */
export function projectName(): string {
  projects += 1;
  return `lines ${projects}`;
}

class Run {
  readonly #place: LinesPlace;
  readonly #key: string;
  readonly #other: string;
  readonly #project: string;
  readonly #sessions: ModelSession[] = [];
  /** The text of each acknowledged message of a session, by its id. */
  readonly #said = new Map<string, Map<string, string>>();
  #stop = new AbortController();
  #count = 0;

  constructor(place: LinesPlace, key: string, other: string, project: string) {
    this.#place = place;
    this.#key = key;
    this.#other = other;
    this.#project = project;
  }

  async step({ kind, session: number, finish: ends, at }: Operation): Promise<void> {
    this.#count += 1;
    const { backend, engine } = this.#place;
    engine.text = `reply ${this.#count}`;
    engine.finish = ends;
    const session = this.#sessions[number];
    if (session === undefined) {
      if (kind !== 'chat') return;
      // A caller that leaves at once may not learn the id of the session.
      engine.finish = 'stop';
      const empty = new ModelSession('');
      await this.#chat(empty, null);
      return;
    }
    if (kind === 'restore') {
      await backend.archive.restoreSession(this.#call(), session.id);
      session.isDeleted = false;
    } else if (session.isDeleted) await this.#purgeOrRefuse(kind, session);
    else if (kind === 'chat') await this.#chat(session, `turn-${this.#count}`);
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

  async compareAll(): Promise<void> {
    if (this.#place.cutsLater) await vi.waitFor(() => this.compare(), { timeout: 20_000, interval: 20 });
    else await this.compare();
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
      const { archive } = this.#place.backend;
      expect((await failureOf(archive.listMessages(other, session.id, page))).code).toBe('SESSION_NOT_FOUND');
    }
  }

  /** What an export holds is the same after its import in the other project. */
  async copy(): Promise<void> {
    const { backend } = this.#place;
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
    return callWith(this.#key, { signal: this.#stop.signal, idempotencyKey });
  }

  /** Runs a turn to its end. Returns its reply as it must be stored, and its last event. */
  async #run(asked: string, events: AsyncIterable<ChatEvent>): Promise<ChatEvent | undefined> {
    let last: ChatEvent | undefined;
    try {
      for await (const event of events) {
        last = event;
        if (event.event === 'delta' && this.#place.engine.finish === 'interrupted') this.#stop.abort(stopped);
        if (event.event !== 'session' && event.event !== 'done') continue;
        const { session_id, message_id } = event.data;
        // A reply that came whole from a server elsewhere does not tell the id of its message.
        if (message_id === '') continue;
        const texts = this.#said.get(session_id) ?? new Map<string, string>();
        this.#said.set(session_id, texts.set(message_id, event.event === 'done' ? event.data.reply : asked));
      }
      expect(this.#place.engine.finish).toBe('stop');
    } catch (error) {
      const { finish } = this.#place.engine;
      if (finish === 'error') expect(error).toMatchObject({ code: 'ENGINE_FAILED' });
      else if (finish === 'interrupted') expect(error).toBe(stopped);
      else throw error;
      this.#stop = new AbortController();
    }
    return last;
  }

  #reply(): ModelReply {
    const { text: content, finish } = this.#place.engine;
    return { content, finish };
  }

  async #chat(session: ModelSession, key: string | null): Promise<void> {
    const message = `message ${this.#count}`;
    const request = { mode: 'test', message, session_id: session.id === '' ? null : session.id };
    let id = session.id;
    const noted = async function* (events: AsyncIterable<ChatEvent>) {
      for await (const event of events) {
        if (event.event === 'session') id = event.data.session_id;
        yield event;
      }
    };
    await this.#run(message, noted(this.#place.backend.service.chat(this.#call(key), request, 'chunks')));
    const own = session.id === '' ? new ModelSession(id) : session;
    if (own !== session) this.#sessions.push(own);
    const turn = own.ask(message, key);
    expect(this.#place.engine.given).toEqual([...contents(own.contextBefore(turn)), message]);
    own.answer(turn, this.#reply());
  }

  async #repeat(session: ModelSession, at: number): Promise<void> {
    const turns = [...session.line, ...session.undone].filter(({ key }) => key !== null);
    const turn = turns[at % Math.max(1, turns.length)];
    if (turn === undefined) return;
    const request = { mode: 'test', message: turn.asked, session_id: session.id };
    const isUndone = session.undone.includes(turn);
    const answer = turn.first ?? (isUndone ? turn.reply : null);
    this.#place.engine.given = [];
    if (answer !== null) this.#place.engine.finish = 'stop';
    const form = this.#place.engine.finish === 'interrupted' ? 'chunks' : 'whole';
    const last = await this.#run(
      turn.asked,
      this.#place.backend.service.chat(this.#call(turn.key), request, form),
    );
    if (answer !== null) {
      expect(this.#place.engine.given).toEqual([]);
      expect(last).toMatchObject({
        event: 'done',
        data: { reply: answer.content, finish_reason: answer.finish },
      });
      return;
    }
    session.close(turn);
    session.redoable = [];
    expect(this.#place.engine.given).toEqual([...contents(session.contextBefore(turn)), turn.asked]);
    session.answer(turn, this.#reply());
  }

  async #regenerate(session: ModelSession): Promise<void> {
    const turn = session.line.at(-1);
    const events = this.#place.backend.archive.regenerate(
      this.#call(),
      session.id,
      { mode: 'test' },
      'chunks',
    );
    if (turn === undefined) {
      const failure = await failureOf(this.#first(events));
      expect(failure.code).toBe('INVALID_REQUEST');
      return;
    }
    await this.#run(turn.asked, events);
    session.redoable = [];
    expect(this.#place.engine.given).toEqual([...contents(session.contextBefore(turn)), turn.asked]);
    session.answer(turn, this.#reply());
  }

  async #first(events: AsyncIterable<ChatEvent>): Promise<void> {
    for await (const _ of events) return;
  }

  async #move(session: ModelSession, kind: 'undo' | 'redo'): Promise<void> {
    const turn = session[kind]();
    const moved = this.#place.backend.archive[`${kind}Turn`](this.#call(), session.id);
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
    const forked = this.#place.backend.archive.forkSession(this.#call(), session.id, request);
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
      const start = turnStart({ ...common, session_id, content: `message ${this.#count}` });
      expect(await this.#place.store.beginTurn(this.#project, start)).toMatchObject({ kind: 'begun' });
      session.ask(`message ${this.#count}`, null);
    } else {
      const begun = await this.#place.store.beginRegeneration(
        this.#project,
        regeneration(session_id, common),
      );
      expect(begun.kind).toBe(session.line.length === 0 ? 'empty' : 'begun');
      if (begun.kind === 'begun') session.redoable = [];
    }
  }

  async #purgeOrRefuse(kind: string, session: ModelSession): Promise<void> {
    if (kind === 'undo' || kind === 'redo') {
      const moved = this.#place.backend.archive[`${kind}Turn`](this.#call(), session.id);
      expect((await failureOf(moved)).code).toBe('SESSION_NOT_FOUND');
    }
    if (kind !== 'purge' || !this.#place.purges) return;
    const deleted = this.#sessions.filter(({ isDeleted }) => isDeleted);
    const deletedBefore = Date.now() + 1000;
    const filter = { projectId: this.#project, deletedBefore };
    const { sessions } = await this.#place.store.planPurge(filter);
    expect(sessions).toBeLessThanOrEqual(deleted.length);
    await this.#place.store.purgeSessions(filter, { expected: sessions, keptSince: 0 });
    const left = await Promise.all(deleted.map(({ id }) => this.#place.store.holdsAny(this.#project, [id])));
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
      const page: Awaited<ReturnType<SessionArchive['listMessages']>> =
        await this.#place.backend.archive.listMessages(callWith(key), session, query);
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
