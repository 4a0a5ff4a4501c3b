// The simplest model of a store: one array, no files. Real stores are compared with it.
import { type FinishReason, noSettings, type SessionSettings } from '../../src/service/session.ts';
import type { SessionOrder } from '../../src/service/session-archive.ts';

interface ModelMessage {
  readonly message_id: string;
  readonly content: string;
  readonly finish_reason: FinishReason | null;
}

interface ModelSession {
  readonly project: string;
  readonly session_id: string;
  readonly created: number;
  title: string | null;
  mode: string | null;
  settings: SessionSettings;
  updated: number;
  deleted: boolean;
  readonly messages: ModelMessage[];
  running: boolean;
}

export interface ModelFilter extends SessionOrder {
  readonly deleted: boolean;
  readonly updatedAfter: number;
  readonly updatedBefore: number;
}

export class StoreModel {
  /** The sessions in the order of their creation. */
  readonly #sessions: ModelSession[] = [];

  add(project: string, session_id: string, title: string | null, now: number): ModelSession {
    const session = {
      ...{
        project,
        session_id,
        title,
        created: now,
        updated: now,
        mode: null,
        settings: noSettings,
        deleted: false,
        messages: [],
        running: false,
      },
    };
    this.#sessions.push(session);
    return session;
  }

  find(project: string, session_id: string): ModelSession | undefined {
    return this.#sessions.find((one) => one.project === project && one.session_id === session_id);
  }

  findActive(project: string, session_id: string): ModelSession | undefined {
    const session = this.find(project, session_id);
    return session?.deleted ? undefined : session;
  }

  list(project: string, { deleted, sort, order, updatedAfter, updatedBefore }: ModelFilter) {
    const sessions = this.#sessions
      .filter((one) => one.project === project && one.deleted === deleted)
      .filter(({ updated }) => updated >= updatedAfter && updated < updatedBefore)
      .sort((one, other) => one[sort] - other[sort] || (one.session_id < other.session_id ? -1 : 1));
    return order === 'asc' ? sessions : sessions.reverse();
  }
}
