// Random conversations of two projects, with other replies, undo, redo, forks, imports, deletions, purges and turns whose process died. What was
// acknowledged is readable, an engine gets exactly the visible messages, a fork changes only itself, and no project sees another's.
import fc from 'fast-check';
import { expect, vi } from 'vitest';
import type { Backend, EmbeddedBackend } from '../../src/service/backend.ts';
import type { ChatEvent } from '../../src/service/chat-event.ts';
import { isHidden, type Message } from '../../src/service/session.ts';
import type { SessionArchive } from '../../src/service/session-archive.ts';
import type { TurnBegin } from '../../src/store/session-store.ts';
import { type ModelReply, ModelSession, textOf } from '../local/lines-model.ts';
import { regeneration } from '../store/line-samples.ts';
import { everySession as storedSessions, turnStart } from '../store/store-samples.ts';
import { callWith, collect, failureOf } from '../support/calls.ts';
import { type KilledKind, outcomesOf } from './killed-outcomes.ts';
import type { LinesPlace } from './lines-place.ts';
import { everySession } from './service/service-fixture.ts';

const kinds = [
  ...['chat', 'chat', 'chat', 'regenerate', 'regenerate', 'undo', 'undo', 'redo', 'redo', 'fork', 'repeat'],
  ...['abandon', 'abandon another', 'delete', 'restore', 'purge', 'import'],
] as const;
/** Most operations are on one session, because faults show after several of them. */
const someSession = fc.constantFrom(0, 0, 0, 0, 1, 1, 2, 3);
const operation = fc.record({
  kind: fc.constantFrom(...kinds),
  session: someSession,
  finish: fc.constantFrom('stop', 'stop', 'error', 'interrupted'),
  at: fc.nat(5),
});
type Operation = typeof operation extends fc.Arbitrary<infer One> ? One : never;

const kill = fc.record({
  kind: fc.constant('kill' as const),
  during: fc.constantFrom(
    ...([
      'chat',
      'chat',
      'regenerate',
      'regenerate',
      'undo',
      'redo',
      'fork',
      'delete',
      'restore',
      'purge',
    ] as const),
  ),
  session: someSession,
  moment: fc.constantFrom('sent', 'sent', 'asked', 'said', 'done'),
  lateMs: fc.nat(6),
});
type Kill = typeof kill extends fc.Arbitrary<infer One> ? One : never;

const stopped = new Error('stopped');
let runs = 0;

/** Plays random operations and compares all sessions with their models. */
export async function playRandomLines(place: LinesPlace, numRuns: number, maxLength = 40): Promise<void> {
  // Random operations rarely show whether a redo ends with another message.
  const kindsOfExample = ['chat', 'chat', 'undo', 'undo', 'chat', 'redo'] as const;
  const example = kindsOfExample.map((kind): Operation => ({ kind, session: 0, finish: 'stop', at: 0 }));
  // Nor do they often repeat a failed turn that was undone.
  const kindsOfRepeat = ['chat', 'chat', 'undo', 'repeat'] as const;
  const repeat = kindsOfRepeat.map((kind): Operation => ({ kind, session: 0, finish: 'error', at: 0 }));
  await play(place, numRuns + 2, fc.array(operation, { minLength: 10, maxLength }), [example, repeat]);
}

/** The same with so many kills, each between some operations. */
export async function playKilledLines(
  place: LinesPlace,
  { numRuns, kills, between }: { readonly numRuns: number; readonly kills: number; readonly between: number },
): Promise<void> {
  const some = fc.array(operation, { minLength: 3, maxLength: between });
  const parts = Array.from({ length: kills }, () =>
    fc.tuple(some, kill).map(([others, one]) => [...others, one]),
  );
  await play(
    place,
    numRuns,
    fc.tuple(...parts, some).map((all) => all.flat()),
  );
}

async function play(
  place: LinesPlace,
  numRuns: number,
  operationsOf: fc.Arbitrary<(Operation | Kill)[]>,
  examples: readonly (Operation | Kill)[][] = [],
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(operationsOf, async (operations) => {
      const keys = [await place.newKey(), await place.newKey()];
      const { service } = place.backend;
      const projects = await Promise.all(keys.map(async (key) => (await service.verify(callWith(key))).data));
      const run = new Run(
        place,
        keys,
        projects.map(({ project_id }) => project_id),
      );
      for (const [index, one] of operations.entries()) {
        if (one.kind === 'kill') await run.kill(one);
        else await run.step(one);
        // Then no turn runs any more.
        if (place.cutsLater && place.engine.finish === 'interrupted') await run.compareAll();
        if (one.kind === 'kill' || index % place.comparedEach === 0) await run.compareAll();
      }
      await run.compareAll();
      await run.copy();
      await run.compareAll();
      await run.purgeAll();
    }),
    {
      numRuns,
      examples: examples.map((one): [(Operation | Kill)[]] => [one]),
      endOnFailure: place.cutsLater || place.kills !== null,
    },
  );
}

class Run {
  readonly #place: LinesPlace;
  /** A key of each project. */
  readonly #keys: readonly string[];
  readonly #projects: readonly string[];
  readonly #sessions: ModelSession[] = [];
  /** The text of each acknowledged message of a session, by its id. */
  readonly #said = new Map<string, Map<string, string>>();
  /** Sessions of which a process has left a turn, which may still count as running. */
  readonly #left = new Set<string>();
  /** The texts of the sessions that were erased. */
  readonly #erased = new Set<string>();
  readonly #name: string;
  #stop = new AbortController();
  #count = 0;

  constructor(place: LinesPlace, keys: readonly string[], projects: readonly string[]) {
    this.#place = place;
    this.#keys = keys;
    this.#projects = projects;
    runs += 1;
    this.#name = `run ${runs}`;
  }

  async step({ kind, session: number, finish: ends, at }: Operation): Promise<void> {
    this.#begin(ends);
    const { backend, engine } = this.#place;
    const session = this.#sessions[number];
    if (session === undefined) {
      if (kind !== 'chat') return;
      // A caller that leaves at once may not learn the id of the session.
      engine.finish = 'stop';
      await this.#chat(new ModelSession('', [], number % 2), null);
      return;
    }
    if (kind === 'restore') {
      await backend.archive.restoreSession(this.#call(session), session.id);
      session.isDeleted = false;
    } else if (session.isDeleted) await this.#purgeOrRefuse(kind, session);
    else if (kind === 'chat') await this.#chat(session, `turn-${this.#count}`);
    else if (kind === 'repeat') await this.#repeat(session, at);
    else if (kind === 'regenerate') await this.#regenerate(session);
    else if (kind === 'undo' || kind === 'redo') await this.#move(session, kind);
    else if (kind === 'fork') await this.#fork(session, at);
    else if (kind === 'import') await this.#import(session);
    else if (kind === 'abandon' || kind === 'abandon another') await this.#abandon(session, kind);
    else if (kind === 'delete') {
      await backend.service.deleteSession(this.#call(session), session.id);
      session.isDeleted = true;
    }
  }

  #begin(ends: ModelReply['finish']): void {
    this.#count += 1;
    const { engine } = this.#place;
    engine.text = this.#text('reply');
    engine.finish = ends;
  }

  /** No text is a part of another. */
  #text(of: 'message' | 'reply'): string {
    return `${of} ${this.#count} of ${this.#name}.`;
  }

  async compareAll(): Promise<void> {
    if (this.#place.cutsLater) await vi.waitFor(() => this.compare(), { timeout: 20_000, interval: 20 });
    else await this.compare();
  }

  /** Every session is as its model, in all pages, and the other project sees it only if it has a session of this id. */
  async compare(): Promise<void> {
    for (const session of this.#sessions.filter(({ isDeleted }) => !isDeleted)) {
      const all = await this.#messages(session, true);
      expect(shown(all)).toEqual({ visible: session.visible(), hidden: session.hidden() });
      expect(await this.#messages(session, false)).toEqual(all.filter((message) => !isHidden(message)));
      const texts = new Map(all.map(({ message_id, content }) => [message_id, content]));
      for (const [id, text] of this.#saidIn(session)) expect(texts.get(id)).toBe(text);
      if (this.#twin(session) !== undefined) continue;
      const other = callWith(this.#keys[1 - session.project] ?? '');
      const page = { limit: 10, cursor: null, all: true };
      const { archive } = this.#place.backend;
      expect((await failureOf(archive.listMessages(other, session.id, page))).code).toBe('SESSION_NOT_FOUND');
    }
  }

  /** What an export holds is the same after its import in the other project. */
  async copy(): Promise<void> {
    for (const session of [...this.#sessions]) if (!session.isDeleted) await this.#import(session);
  }

  /** The store holds no text of a session that was erased. */
  async purgeAll(): Promise<void> {
    for (const session of this.#sessions) {
      if (session.isDeleted) continue;
      await this.#place.backend.service.deleteSession(this.#call(session), session.id);
      session.isDeleted = true;
    }
    for (const project of [0, 1]) await this.#purge(project);
    expect(this.#sessions.filter((session) => !this.#left.has(session.id))).toEqual([]);
  }

  /** The session of the other project with this id. */
  #twin({ id, project }: ModelSession): ModelSession | undefined {
    return this.#sessions.find((other) => other.id === id && other.project !== project);
  }

  #saidIn({ id, project }: ModelSession): Map<string, string> {
    const name = `${project} ${id}`;
    const texts = this.#said.get(name) ?? new Map<string, string>();
    this.#said.set(name, texts);
    return texts;
  }

  #call({ project }: Pick<ModelSession, 'project'>, idempotencyKey: string | null = null) {
    return callWith(this.#keys[project] ?? '', { signal: this.#stop.signal, idempotencyKey });
  }

  #projectOf({ project }: Pick<ModelSession, 'project'>): string {
    return this.#projects[project] ?? '';
  }

  /** Notes what an event acknowledges. */
  #note(project: number, message: string, event: ChatEvent): void {
    if (event.event !== 'session' && event.event !== 'done') return;
    const { session_id: id, message_id } = event.data;
    // A reply that came whole from a server elsewhere does not tell the id of its message.
    if (message_id === '') return;
    this.#saidIn({ id, project } as ModelSession).set(
      message_id,
      event.event === 'done' ? event.data.reply : message,
    );
  }

  /** Runs a turn to its end. Returns its reply as it must be stored, and its last event. */
  async #run(
    { project }: ModelSession,
    message: string,
    events: AsyncIterable<ChatEvent>,
  ): Promise<ChatEvent | undefined> {
    let last: ChatEvent | undefined;
    try {
      for await (const event of events) {
        last = event;
        if (event.event === 'delta' && this.#place.engine.finish === 'interrupted') this.#stop.abort(stopped);
        this.#note(project, message, event);
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
    const message = this.#text('message');
    const request = { mode: 'test', message, session_id: session.id === '' ? null : session.id };
    let id = session.id;
    const noted = async function* (events: AsyncIterable<ChatEvent>) {
      for await (const event of events) {
        if (event.event === 'session') id = event.data.session_id;
        yield event;
      }
    };
    const { service } = this.#place.backend;
    await this.#run(session, message, noted(service.chat(this.#call(session, key), request, 'chunks')));
    const own = session.id === '' ? new ModelSession(id, [], session.project) : session;
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
    const { service } = this.#place.backend;
    const events = service.chat(this.#call(session, turn.key), request, form);
    if (answer !== null && answer.finish !== 'stop') {
      expect((await failureOf(collect(events))).code).toBe('INVALID_REQUEST');
      expect(this.#place.engine.given).toEqual([]);
      return;
    }
    const last = await this.#run(session, turn.asked, events);
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
    const { archive } = this.#place.backend;
    const events = archive.regenerate(this.#call(session), session.id, { mode: 'test' }, 'chunks');
    if (turn === undefined) {
      const failure = await failureOf(collect(events));
      expect(failure.code).toBe('INVALID_REQUEST');
      return;
    }
    await this.#run(session, turn.asked, events);
    session.redoable = [];
    expect(this.#place.engine.given).toEqual([...contents(session.contextBefore(turn)), turn.asked]);
    session.answer(turn, this.#reply());
  }

  async #move(session: ModelSession, kind: 'undo' | 'redo'): Promise<void> {
    const turn = session[kind]();
    const moved = this.#place.backend.archive[`${kind}Turn`](this.#call(session), session.id);
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
    const forked = this.#place.backend.archive.forkSession(this.#call(session), session.id, request);
    if (copied.length === 0 || copied.length * 2 <= (through ?? 0)) {
      expect((await failureOf(forked)).code).toBe('INVALID_REQUEST');
      return;
    }
    const { data } = await forked;
    expect(data).toMatchObject({ parent_id: session.id, forked_at: copied.length * 2 - 1 });
    this.#sessions.push(new ModelSession(data.session_id, copied, session.project));
  }

  /** The other project gets the session, which has the same id there. */
  async #import(session: ModelSession): Promise<void> {
    if (this.#twin(session) !== undefined) return;
    const { backend } = this.#place;
    const all = await this.#messages(session, true);
    const record = {
      session: (await backend.service.getSession(this.#call(session), session.id)).data,
      messages: all.filter((message) => !isHidden(message)),
      hidden_messages: all.filter(isHidden),
    };
    const twin = session.imported(1 - session.project);
    for (let times = 0; times < 2; times += 1) await backend.archive.importSession(this.#call(twin), record);
    expect(await this.#messages(twin, true)).toEqual(all);
    this.#sessions.push(twin);
    for (const [id, text] of this.#saidIn(session)) this.#saidIn(twin).set(id, text);
  }

  /** A process begins a turn and dies. */
  async #abandon(session: ModelSession, kind: 'abandon' | 'abandon another'): Promise<void> {
    const { store } = this.#place;
    const project = this.#projectOf(session);
    const common = { lease: { owner: 'gone', ms: 60_000 }, mode: 'test', now: Date.now() };
    const { id: session_id } = session;
    this.#left.add(session_id);
    const content = this.#text('message');
    if (kind === 'abandon') {
      const begun = await whenFree((deadOwner) =>
        store.beginTurn(project, turnStart({ ...common, deadOwner, session_id, content })),
      );
      expect(begun).toMatchObject({ kind: 'begun' });
      session.ask(content, null);
    } else {
      const begun = await whenFree((deadOwner) =>
        store.beginRegeneration(project, regeneration(session_id, { ...common, deadOwner })),
      );
      expect(begun.kind).toBe(session.line.length === 0 ? 'empty' : 'begun');
      if (begun.kind === 'begun') session.redoable = [];
    }
  }

  async #purgeOrRefuse(kind: string, session: ModelSession): Promise<void> {
    if (kind === 'undo' || kind === 'redo') {
      const moved = this.#place.backend.archive[`${kind}Turn`](this.#call(session), session.id);
      expect((await failureOf(moved)).code).toBe('SESSION_NOT_FOUND');
    }
    if (kind === 'purge') await this.#purge(session.project);
  }

  /** Erases the deleted sessions of a project, and looks for what is left of them. */
  async #purge(project: number): Promise<void> {
    const { store, textsLeft } = this.#place;
    const deleted = this.#deletedOf(project);
    const filter = { projectId: this.#projects[project] ?? '', deletedBefore: Date.now() + 1000 };
    const { sessions } = await store.planPurge(filter);
    expect(sessions).toBeLessThanOrEqual(deleted.length);
    await store.purgeSessions(filter, { expected: sessions, keptSince: 0 });
    await this.#forgetErased(project);
    const texts = this.#sessions.flatMap((session) => session.texts());
    const known = new Set([...texts, ...(await this.#titles())]);
    const gone = [...this.#erased].filter((text) => text !== '' && !known.has(text));
    if (textsLeft !== null && gone.length > 0) expect(await textsLeft(gone)).toEqual([]);
  }

  /** A session keeps the title that is its first message, or that of its parent, when that message is undone. */
  async #titles(): Promise<readonly (string | null)[]> {
    const listed = this.#projects.flatMap((projectId) =>
      [false, true].map((deleted) =>
        this.#place.store.listSessions(projectId, storedSessions({ deleted, limit: 200 })),
      ),
    );
    return (await Promise.all(listed)).flatMap(({ items }) => items.map(({ title }) => title));
  }

  #deletedOf(project: number): readonly ModelSession[] {
    return this.#sessions.filter((session) => session.isDeleted && session.project === project);
  }

  /** A purge leaves the sessions whose turns run. */
  async #forgetErased(project: number): Promise<void> {
    for (const session of this.#deletedOf(project)) {
      if (await this.#place.store.holdsAny(this.#projectOf(session), [session.id])) continue;
      this.#sessions.splice(this.#sessions.indexOf(session), 1);
      this.#saidIn(session).clear();
      for (const text of session.texts()) this.#erased.add(text);
    }
  }

  /** The process with the service is killed in the middle of an operation. */
  async kill({ during, session: number, moment, lateMs }: Kill): Promise<void> {
    const session = this.#sessions[number % Math.max(1, this.#sessions.length)];
    const { kills, engine } = this.#place;
    if (kills === null || session === undefined) return;
    this.#begin('stop');
    engine.given = [];
    const progress = { isBegun: false, isDone: false };
    const key = `turn-${this.#count}`;
    const message = this.#text('message');
    const kind = session.isDeleted ? (during === 'purge' ? 'purge' : 'restore') : during;
    // A regeneration tells the message that it replies to.
    const asked = kind === 'regenerate' ? (session.line.at(-1)?.asked ?? '') : message;
    let forked: string | null = null;
    const operations = {
      chat: (backend: Backend) =>
        backend.service.chat(
          this.#call(session, key),
          { mode: 'test', message, session_id: session.id },
          'chunks',
        ),
      regenerate: ({ archive }: Backend) =>
        archive.regenerate(this.#call(session), session.id, { mode: 'test' }, 'chunks'),
      undo: ({ archive }: Backend) => archive.undoTurn(this.#call(session), session.id),
      redo: ({ archive }: Backend) => archive.redoTurn(this.#call(session), session.id),
      delete: ({ service }: Backend) => service.deleteSession(this.#call(session), session.id),
      restore: ({ archive }: Backend) => archive.restoreSession(this.#call(session), session.id),
      fork: async ({ archive }: Backend) => {
        forked = (await archive.forkSession(this.#call(session), session.id, {})).data.session_id;
      },
      purge: async (_: Backend, administration: EmbeddedBackend['administration']) => {
        const request = {
          project_id: this.#projectOf(session),
          deleted_before: new Date(Date.now() + 1000).toISOString(),
        };
        const { sessions } = await administration.planPurge(request);
        await administration.purgeSessions({ ...request, expected_sessions: sessions });
      },
    };
    await kills.during(moment, lateMs, async (backend, administration) => {
      try {
        const answer = operations[kind](backend, administration);
        if (Symbol.asyncIterator in answer) {
          for await (const event of answer) {
            progress.isBegun = true;
            this.#note(session.project, asked, event);
            if (event.event === 'done') progress.isDone = true;
          }
        } else {
          await answer;
          progress.isDone = true;
        }
      } catch (error) {
        // Nothing to undo, say. A failure of the connection, or of the process, is the kill.
        if (error instanceof TypeError) throw error;
      }
    });
    this.#left.add(session.id);
    progress.isBegun ||= engine.given.length > 0;
    if (kind === 'purge') await this.#forgetErased(session.project);
    else if (kind === 'fork') await this.#findFork(session, forked);
    else if (kind === 'restore') await this.#findRestored(session, progress.isDone);
    else await this.#settle(session, kind, { message, key, progress });
  }

  /** Finds out what came of the operation, which must be one of its outcomes. */
  async #settle(
    session: ModelSession,
    kind: KilledKind,
    {
      message,
      key,
      progress,
    }: { message: string; key: string; progress: { isBegun: boolean; isDone: boolean } },
  ): Promise<void> {
    const outcomes = outcomesOf(kind, session, { message, key, reply: this.#reply() }, progress);
    const now = await this.#messages(session, true).then(shown, (error: unknown) => {
      expect(error).toMatchObject({ code: 'SESSION_NOT_FOUND' });
      return null;
    });
    const fitting = outcomes.filter((outcome) => {
      if (outcome.isDeleted || now === null) return outcome.isDeleted && now === null;
      return isSame(now, { visible: outcome.visible(), hidden: outcome.hidden() });
    });
    const [outcome, other] = fitting;
    if (outcome === undefined) {
      expect(now).toEqual(outcomes.map((one) => ({ visible: one.visible(), hidden: one.hidden() })));
      return;
    }
    this.#sessions[this.#sessions.indexOf(session)] = outcome;
    if (other === undefined || outcome.redoable.length === other.redoable.length) return;
    // Both look the same, but a regeneration that has begun ends what can be brought back.
    try {
      await this.#place.backend.archive.redoTurn(this.#call(session), session.id);
      outcome.redo();
    } catch (error) {
      expect(error).toMatchObject({ code: 'INVALID_REQUEST' });
      this.#sessions[this.#sessions.indexOf(outcome)] = other;
    }
  }

  /** A fork is whole, or not there. */
  async #findFork(session: ModelSession, forkId: string | null): Promise<void> {
    const { archive } = this.#place.backend;
    const { items } = (await archive.listSessions(this.#call(session), everySession)).data;
    const known = this.#sessions.filter(({ project }) => project === session.project).map(({ id }) => id);
    const [found, ...others] = items.filter(({ session_id }) => !known.includes(session_id));
    expect(others).toEqual([]);
    if (forkId !== null) expect(found?.session_id).toBe(forkId);
    if (found === undefined) return;
    const answered = session.line.filter(({ reply }) => reply !== null);
    this.#sessions.push(new ModelSession(found.session_id, answered, session.project));
  }

  async #findRestored(session: ModelSession, isDone: boolean): Promise<void> {
    const found = this.#place.backend.service.getSession(this.#call(session), session.id);
    session.isDeleted = await found.then(
      () => false,
      () => true,
    );
    if (isDone) expect(session.isDeleted).toBe(false);
  }

  async #messages(session: ModelSession, all: boolean): Promise<readonly Message[]> {
    const messages: Message[] = [];
    let cursor: string | null = null;
    do {
      const query = { limit: 3, cursor, ...(all && { all }) };
      const page: Awaited<ReturnType<SessionArchive['listMessages']>> =
        await this.#place.backend.archive.listMessages(this.#call(session), session.id, query);
      messages.push(...page.data.items);
      cursor = page.data.next_cursor;
    } while (cursor !== null);
    return messages;
  }
}

interface Shown {
  readonly visible: readonly string[];
  readonly hidden: readonly string[];
}

/** The messages as the model tells them. */
function shown(all: readonly Message[]): Shown {
  const contents = new Map(all.map(({ message_id, content }) => [message_id, content]));
  const hidden = all.filter(isHidden).map((message) => {
    const { alternative_of } = message;
    if (alternative_of === undefined) return `undone ${described(message)}`;
    return `alternative of ${contents.get(alternative_of)}: ${described(message)}`;
  });
  return { visible: all.filter((message) => !isHidden(message)).map(described), hidden: hidden.sort() };
}

function isSame(one: Shown, other: Shown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Begins a turn when the one of a killed process is over. */
async function whenFree(begin: (deadOwner: string) => Promise<TurnBegin>): Promise<TurnBegin> {
  let deadOwner = 'gone';
  return vi.waitFor(
    async () => {
      const begun = await begin(deadOwner);
      if (begun.kind !== 'busy') return begun;
      deadOwner = begun.owner;
      throw new Error('A turn runs.');
    },
    { timeout: 20_000, interval: 20 },
  );
}

function described({ content, finish_reason }: Message): string {
  if (finish_reason === null) return content;
  return textOf({ content, finish: finish_reason as ModelReply['finish'] });
}

/** The texts of a line without the ends of the replies. */
function contents(texts: readonly string[]): readonly string[] {
  return texts.map((text) => text.replace(/^(stop|error|interrupted): /, ''));
}
