// What this service offers beyond the interface document. Another server may lack it: each operation then rejects with
// `UNSUPPORTED`.
import type { Answer } from './answer.ts';
import type { Call } from './call.ts';
import type { Message, Page, Session } from './session.ts';

export interface PageRequest {
  /** 1 to 200. */
  readonly limit: number;
  /** The `next_cursor` of the page before; null for the first. */
  readonly cursor: string | null;
}

/** Sessions by last activity, the newest first. Filters are joined by "and"; null means "any". */
export interface SessionQuery extends PageRequest {
  /** A glob (`*`, `?`, `[a-z]`) over the whole title, case-sensitive. */
  readonly title_match: string | null;
  /** Last activity strictly before, or at or after, an ISO 8601 time. */
  readonly updated_before: string | null;
  readonly updated_after: string | null;
  /** True: the deleted sessions instead of the active ones. */
  readonly deleted: boolean;
}

export interface BatchItem<Status extends string> {
  readonly session_id: string;
  readonly status: Status | 'not_found';
}

export interface BatchResult<Status extends string> {
  /** In the order of the ids given. */
  readonly items: readonly BatchItem<Status>[];
}

/** Errors as in {@link ConversationService}. */
export interface SessionArchive {
  listSessions(call: Call, query: SessionQuery): Promise<Answer<Page<Session>>>;

  /** A session's messages by position, both sides. */
  listMessages(call: Call, sessionId: string, page: PageRequest): Promise<Answer<Page<Message>>>;

  /** A title of null takes the title away. Not an activity: `updated_at` stays. */
  renameSession(call: Call, sessionId: string, title: string | null): Promise<Answer<Session>>;

  /** Undoes a deletion; an active session stays as it is. */
  restoreSession(call: Call, sessionId: string): Promise<Answer<Session>>;

  /** 1 to 1,000 ids in one transaction. */
  deleteSessions(call: Call, sessionIds: readonly string[]): Promise<Answer<BatchResult<'deleted'>>>;

  /** 1 to 1,000 ids in one transaction. */
  restoreSessions(call: Call, sessionIds: readonly string[]): Promise<Answer<BatchResult<'restored'>>>;
}
