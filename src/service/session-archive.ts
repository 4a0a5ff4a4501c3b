// What this service offers beyond the interface document. Another server may lack it: each operation then rejects with
// `UNSUPPORTED`.
import type { Answer } from './answer.ts';
import type { Call } from './call.ts';
import type { Message, Page, Role, Session } from './session.ts';

export interface PageRequest {
  /** 1 to 200. */
  readonly limit: number;
  /** The `next_cursor` of the page before; null for the first. */
  readonly cursor: string | null;
}

/** Sessions with the same time are ordered by their ids, in the same direction. */
export interface SessionOrder {
  /** The time that counts: of the last activity, or of the creation. */
  readonly sort: 'updated' | 'created';
  /** `desc`: the newest first. */
  readonly order: 'desc' | 'asc';
}

/** The order of a listing that asks for no other. */
export const lastActiveFirst: SessionOrder = { sort: 'updated', order: 'desc' };

/** For paging through all sessions: one that becomes active meanwhile keeps its place, and new ones come at the end. */
export const firstCreatedFirst: SessionOrder = { sort: 'created', order: 'asc' };

/** Filters are joined by "and"; null means "any". A cursor belongs to the order that it was given out in. */
export interface SessionQuery extends PageRequest, SessionOrder {
  /** A glob (`*`, `?`, `[a-z]`) over the whole title, case-sensitive. */
  readonly title_match: string | null;
  /** Last activity strictly before, or at or after, an ISO 8601 time. */
  readonly updated_before: string | null;
  readonly updated_after: string | null;
  /** True: the deleted sessions instead of the active ones. */
  readonly deleted: boolean;
}

/** The query that narrows nothing: every active session, the last active first. */
export const anySession: Omit<SessionQuery, keyof PageRequest> = {
  title_match: null,
  updated_before: null,
  updated_after: null,
  deleted: false,
  ...lastActiveFirst,
};

export interface SearchRequest extends PageRequest {
  /** Words that a message must all hold, in any order: `word`, `"a phrase"`, `begin*`. 1 to 500 characters. */
  readonly query: string;
}

/** What stands around each hit in a snippet. A snippet holds them nowhere else. */
export const snippetMarks = { open: '⟦', close: '⟧' } as const;

export interface SearchHit {
  readonly message_id: string;
  readonly role: Role;
  readonly created_at: string;
  /** The part of the message around its hits, on one line, as plain text with {@link snippetMarks}. */
  readonly snippet: string;
}

export interface SearchItem {
  readonly session: Session;
  /** Of its best hit: how often the words occur, and how short the message is. Comparable within one query. */
  readonly score: number;
  /** Its best messages, at most three, the best first. */
  readonly hits: readonly SearchHit[];
}

/** Sessions by score, then by their newest hit. */
export interface SearchPage extends Page<SearchItem> {
  /** True when there are more hits than are ranked: then only the newest 10,000 of them were. */
  readonly newest_only: boolean;
}

/** A session with all that was said in it: what an export holds, and an import takes back. */
export interface SessionRecord {
  readonly session: Session;
  /** By position, from 0. */
  readonly messages: readonly Message[];
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

  /** Active sessions in whose messages the words occur. `INVALID_REQUEST` for a query without a word. */
  searchSessions(call: Call, request: SearchRequest): Promise<Answer<SearchPage>>;

  /** A session's messages by position, both sides. A page of long ones is shorter than its limit; `next_cursor` goes on. */
  listMessages(call: Call, sessionId: string, page: PageRequest): Promise<Answer<Page<Message>>>;

  /** A title of null takes the title away. Not an activity: `updated_at` stays. */
  renameSession(call: Call, sessionId: string, title: string | null): Promise<Answer<Session>>;

  /** Undoes a deletion; an active session stays as it is. */
  restoreSession(call: Call, sessionId: string): Promise<Answer<Session>>;

  /** 1 to 1,000 ids in one transaction. */
  deleteSessions(call: Call, sessionIds: readonly string[]): Promise<Answer<BatchResult<'deleted'>>>;

  /** 1 to 1,000 ids in one transaction. */
  restoreSessions(call: Call, sessionIds: readonly string[]): Promise<Answer<BatchResult<'restored'>>>;

  /**
   * Takes in a session with its id, its times and all its messages, as one write. One that is there and equal stays as it is;
   * `INVALID_REQUEST` where the id is taken otherwise, or the record does not hold together.
   */
  importSession(call: Call, record: SessionRecord): Promise<Answer<Session>>;
}
