// One of the two sides of a sync: its listing, and the operations on its sessions. Calls are paced and can be interrupted safely.
import { hasCode, ParleyError } from '../../service/errors.ts';
import { maxPageItems } from '../../service/limits.ts';
import type { Session } from '../../service/session.ts';
import { anySession, firstCreatedFirst, type ReplacedSession } from '../../service/session-archive.ts';
import { Pacer, type PacerOptions } from '../batch/pacer.ts';
import type { CliContext } from '../context.ts';
import { everyPage } from '../every-page.ts';
import { readSession } from '../transcripts/session-reading.ts';
import type { StoredRecord } from './merged-records.ts';
import type { SideName } from './side-name.ts';

/** How many sessions are synced at a time. */
export const syncConcurrency = 8;

export class Side {
  readonly name: SideName;
  readonly #context: CliContext;
  readonly #pacer: Pacer;

  constructor(
    name: SideName,
    context: CliContext,
    pacing: Pick<PacerOptions, 'giveUp' | 'say' | 'signal' | 'random'>,
  ) {
    this.name = name;
    this.#context = context;
    this.#pacer = new Pacer({
      ...pacing,
      // Plus one page of each listing.
      maxConcurrency: syncConcurrency + 2,
      maxUnanswered: 3,
    });
  }

  /** All sessions in the order of their creation. A session that is created meanwhile comes at the end. */
  async *list(deleted: boolean): AsyncGenerator<Session, void> {
    const query = { ...anySession, ...firstCreatedFirst, deleted, limit: maxPageItems };
    const pages = everyPage((cursor) =>
      this.#run(async ({ archive }, call) => archive.listSessions(call, { ...query, cursor })),
    );
    let last: Session | null = null;
    for await (const { data } of pages) {
      for (const session of data.items) {
        if (!hasValidTime(session)) throw invalidTime(session);
        if (last !== null && compareOrder(last, session) >= 0) throw outOfOrder(session);
        yield session;
        last = session;
      }
    }
  }

  /** Null if there is no such active session. */
  async find(sessionId: string): Promise<Session | null> {
    try {
      return await this.#run(async ({ service }, call) => (await service.getSession(call, sessionId)).data);
    } catch (error) {
      if (hasCode(error, 'SESSION_NOT_FOUND')) return null;
      throw error;
    }
  }

  /** Null if there is no such deleted session, or if the server cannot look for it. */
  async findDeleted(sessionId: string): Promise<Session | null> {
    const query = { ...anySession, id_suffix: sessionId, deleted: true, limit: maxPageItems, cursor: null };
    try {
      const { data } = await this.#run(({ archive }, call) => archive.listSessions(call, query));
      return data.items.find(({ session_id }) => session_id === sessionId) ?? null;
    } catch (error) {
      // A server of an earlier version does not know this filter.
      if (hasCode(error, 'INVALID_REQUEST')) return null;
      throw error;
    }
  }

  async read(sessionId: string): Promise<StoredRecord> {
    return this.#pacer.run(async () => (await readSession(sessionId, this.#context)) as StoredRecord);
  }

  store(record: StoredRecord): Promise<Session> {
    return this.#run(async ({ archive }, call) => (await archive.importSession(call, record)).data);
  }

  replace(record: StoredRecord, replaces: ReplacedSession): Promise<Session> {
    return this.store({ ...record, replaces });
  }

  async delete(sessionId: string): Promise<void> {
    await this.#run(({ service }, call) => service.deleteSession(call, sessionId));
  }

  async restore(sessionId: string): Promise<void> {
    await this.#run(({ archive }, call) => archive.restoreSession(call, sessionId));
  }

  /** True for a failure that every other session would have, too. */
  isFatal(error: unknown): boolean {
    return this.#pacer.isFatal(error);
  }

  #run<T>(
    work: (
      backend: Awaited<ReturnType<CliContext['open']>>['backend'],
      call: Awaited<ReturnType<CliContext['call']>>,
    ) => Promise<T>,
  ): Promise<T> {
    return this.#pacer.run(async () => {
      const { backend } = await this.#context.open();
      return work(backend, { ...(await this.#context.call()), pacesItself: true });
    });
  }
}

/** The position of a session in the order of {@link Side.list}. */
export type ListPosition = Pick<Session, 'created_at' | 'session_id'>;

/** The order of {@link Side.list}: by the time of creation, then by the bytes of the id. */
export function compareOrder(one: ListPosition, other: ListPosition): number {
  const byTime = Date.parse(one.created_at) - Date.parse(other.created_at);
  if (byTime !== 0) return byTime;
  if (one.session_id === other.session_id) return 0;
  return one.session_id < other.session_id ? -1 : 1;
}

/** False for an invalid time, which compares with no other, so that joining the listings would never end. */
export function hasValidTime({ created_at }: Pick<Session, 'created_at'>): boolean {
  return !Number.isNaN(Date.parse(created_at));
}

function invalidTime({ session_id }: Session): ParleyError {
  return new ParleyError(
    'BAD_RESPONSE',
    `The server returned an invalid creation time for session ${session_id}.`,
    { hint: 'A sync needs the sessions in the order of their creation. Update the server.' },
  );
}

function outOfOrder({ session_id }: Session): ParleyError {
  return new ParleyError('BAD_RESPONSE', `The server listed session ${session_id} out of order.`, {
    hint: 'A sync needs the sessions in the order of their creation. Update the server.',
  });
}
