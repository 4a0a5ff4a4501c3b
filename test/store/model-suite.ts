// Random operations of two projects on a store and on its simplest model: every answer is the same, and no project ever sees
// the other's texts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Session } from '../../src/service/session.ts';
import type { SessionStore, Turn } from '../../src/store/session-store.ts';
import { runs } from '../support/runs.ts';
import { type ModelFilter, StoreModel } from './store-model.ts';
import {
  bareSession,
  everySession,
  newId,
  newProject,
  placeAfter,
  startOfTime,
  turnReply,
  turnStart,
} from './store-samples.ts';

const kinds = [
  'create',
  'rename',
  'set',
  'delete',
  'restore',
  'delete many',
  'begin',
  'end',
  'read',
  'list',
  'list deleted',
] as const;

const operation = fc.record({
  kind: fc.constantFrom(...kinds),
  /** The project that calls, and the number of the named session among the sessions of both projects. */
  caller: fc.nat(1),
  session: fc.nat(5),
  passed: fc.nat(2),
  finish: fc.constantFrom('stop', 'error', 'interrupted'),
  sort: fc.constantFrom('updated', 'created'),
  order: fc.constantFrom('desc', 'asc'),
  /** The range of activity times that a listing shows: its start and its length. */
  from: fc.integer({ min: -1, max: 20 }),
  during: fc.constantFrom(1, 10, 1_000),
});

export function describeModel(name: string, open: () => Promise<SessionStore>): void {
  it(`${name} answers random operations of two projects as a plain array does`, async () => {
    const store = await open();
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 60 }), async (operations) => {
        const run = new Run(store, [await newProject(store), await newProject(store)]);
        for (const one of operations) await run.step(one);
        await run.compareAll();
      }),
      { numRuns: runs(8, 1_000) },
    );
  });
}

const anyTime = { updatedAfter: 0, updatedBefore: Number.MAX_SAFE_INTEGER };

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

class Run {
  readonly #store: SessionStore;
  readonly #projects: readonly [string, string];
  readonly #model = new StoreModel();
  readonly #ids: string[] = [];
  readonly #turns: { readonly project: string; readonly turn: Turn }[] = [];
  #now = startOfTime;

  constructor(store: SessionStore, projects: readonly [string, string]) {
    this.#store = store;
    this.#projects = projects;
  }

  async step(one: Operation): Promise<void> {
    this.#now += one.passed;
    const project = this.#projects[one.caller] as string;
    const id = this.#ids[one.session % Math.max(1, this.#ids.length)] ?? 'none';
    const mark = `of ${project}`;
    const active = this.#model.findActive(project, id);
    switch (one.kind) {
      case 'create': {
        const session_id = newId('ses');
        this.#ids.push(session_id);
        this.#model.add(project, session_id, mark, this.#now);
        await this.#store.createSession(project, { session_id, title: mark, now: this.#now }, null);
        return;
      }
      case 'rename': {
        const renamed = await this.#store.changeSession(project, id, { title: `${mark} ${this.#now}` });
        expect(renamed !== null).toBe(active !== undefined);
        if (active) active.title = `${mark} ${this.#now}`;
        return;
      }
      case 'set': {
        const changes =
          one.passed === 0 ? { system: `${mark} ${this.#now}` } : { parameters: { seed: this.#now } };
        const changed = await this.#store.changeSession(project, id, changes);
        expect(changed !== null).toBe(active !== undefined);
        if (active) active.settings = { ...active.settings, ...changes };
        return;
      }
      case 'delete': {
        const deleted = await this.#store.deleteSession(project, id, this.#now);
        expect(deleted !== null).toBe(active !== undefined);
        if (active) active.deleted = true;
        return;
      }
      case 'restore': {
        const restored = await this.#store.restoreSession(project, id, null);
        const session = this.#model.find(project, id);
        expect(restored).toMatchObject({ kind: 'done', value: session ? { session_id: id } : null });
        if (session) session.deleted = false;
        return;
      }
      case 'delete many': {
        const expected = this.#ids.map((session_id) => {
          const session = this.#model.findActive(project, session_id);
          if (session) session.deleted = true;
          return { session_id, status: session ? 'deleted' : 'not_found' };
        });
        expect(await this.#store.deleteSessions(project, this.#ids, this.#now, null)).toEqual({
          kind: 'done',
          value: expected,
        });
        return;
      }
      case 'begin': {
        const lease = { owner: 'owner', ms: 60_000 };
        const mode = `mode ${one.passed}`;
        const start = turnStart({ session_id: id, content: mark, mode, now: this.#now, lease });
        const begun = await this.#store.beginTurn(project, start);
        expect(begun.kind).toBe(active === undefined ? 'not_found' : active.running ? 'busy' : 'begun');
        if (begun.kind !== 'begun' || active === undefined) return;
        expect(begun.turn.position).toBe(active.messages.length);
        expect(begun.settings).toEqual(active.settings);
        active.mode = mode;
        this.#turns.push({ project, turn: begun.turn });
        active.messages.push({ message_id: start.message_id, content: mark, finish_reason: null });
        active.running = true;
        active.updated = this.#now;
        return;
      }
      case 'end': {
        const running = this.#turns.shift();
        if (running === undefined) return;
        const reply = turnReply({
          content: `of ${running.project}`,
          finish_reason: one.finish as 'stop',
          now: this.#now,
        });
        const ended = await this.#store.endTurn(running.project, running.turn, reply);
        const session = this.#model.find(running.project, running.turn.session_id);
        const { message_id, content, finish_reason } = reply;
        session?.messages.push({ message_id, content, finish_reason });
        expect(ended).toEqual({ kind: 'kept', message_count: session?.messages.length });
        if (session) Object.assign(session, { running: false, updated: this.#now });
        return;
      }
      case 'read':
        return this.#compareSession(project, id);
      case 'list':
      case 'list deleted': {
        const { sort, order, from, during } = one;
        const updatedAfter = startOfTime + from;
        const times = { updatedAfter, updatedBefore: updatedAfter + during };
        return this.#compareList(project, { deleted: one.kind === 'list deleted', sort, order, ...times });
      }
    }
  }

  async compareAll(): Promise<void> {
    for (const project of this.#projects) {
      for (const deleted of [false, true]) {
        for (const sort of ['updated', 'created'] as const) {
          for (const order of ['desc', 'asc'] as const) {
            await this.#compareList(project, { deleted, sort, order, ...anyTime });
          }
        }
      }
      for (const id of this.#ids) await this.#compareSession(project, id);
    }
  }

  async #compareSession(project: string, id: string): Promise<void> {
    const session = this.#model.findActive(project, id);
    expect(await this.#store.findSession(project, id)).toEqual(session === undefined ? null : shown(session));
    const page = await this.#store.listMessages(project, id, { limit: 200, after: null });
    const messages = page?.items.map(({ message_id, content, finish_reason }) => ({
      message_id,
      content,
      finish_reason,
    }));
    expect(messages).toEqual(session?.messages);
  }

  async #compareList(project: string, filter: ModelFilter): Promise<void> {
    const sessions: Session[] = [];
    for (let hasMore = true; hasMore; ) {
      const after = sessions.length === 0 ? null : placeAfter(sessions.at(-1), filter);
      const page = await this.#store.listSessions(project, everySession({ limit: 2, after, ...filter }));
      sessions.push(...page.items);
      hasMore = page.hasMore;
    }
    expect(sessions).toEqual(this.#model.list(project, filter).map(shown));
    for (const session of sessions) expect(session.title).toContain(`of ${project}`);
  }
}

function shown(session: ReturnType<StoreModel['add']>) {
  const { session_id, title, messages } = session;
  const created_at = new Date(session.created).toISOString();
  return {
    session_id,
    title,
    created_at,
    updated_at: new Date(session.updated).toISOString(),
    message_count: messages.length,
    ...{ ...bareSession, mode: session.mode, ...session.settings },
  };
}
