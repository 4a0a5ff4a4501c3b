// The contract of the archive: the operations that this service offers beyond the interface document. A third-party server may lack them;
// each operation then rejects with `UNSUPPORTED`.
import type { Call } from './call.ts';
import type { ChatEvent, ReplyForm } from './chat-event.ts';
import type { Result } from './result.ts';
import type { Message, Page, Role, Session, SessionFacts } from './session.ts';

/** The page of a listing that is asked for. */
export interface PageRequest {
  /** 1 to 200. */
  readonly limit: number;
  /** The `next_cursor` of the page before; null for the first page. */
  readonly cursor: string | null;
}

/** The order of a listing. Sessions with equal times are ordered by their ids, in the same direction. */
export interface SessionOrder {
  /** The time that orders the sessions: of the last activity, or of the creation. */
  readonly sort: 'updated' | 'created';
  /** `desc`: the newest first. */
  readonly order: 'desc' | 'asc';
}

/** The default order of a listing. */
export const lastActiveFirst: SessionOrder = { sort: 'updated', order: 'desc' };

/**
 * The order for reading all sessions page by page: a session that becomes active meanwhile keeps its place, and new sessions come at the
 * end.
 */
export const firstCreatedFirst: SessionOrder = { sort: 'created', order: 'asc' };

/** The filters of listings and searches. A session must pass all of them; null passes every session. */
export interface SessionConditions {
  /** A glob (`*`, `?`, `[a-z]`) over the whole title, case-sensitive. */
  readonly title_match: string | null;
  /** ISO 8601. The last activity was strictly before `updated_before`, and at or after `updated_after`. */
  readonly updated_before: string | null;
  readonly updated_after: string | null;
  /** The mode of the last turn. */
  readonly mode: string | null;
  readonly tag: string | null;
  /** The person whose session it is. */
  readonly user: string | null;
  readonly pinned: boolean | null;
  readonly archived: boolean | null;
}

/** The conditions that every session passes. */
export const noConditions: SessionConditions = {
  title_match: null,
  updated_before: null,
  updated_after: null,
  mode: null,
  tag: null,
  user: null,
  pinned: null,
  archived: null,
};

/** The query of a listing. A cursor is valid only in the order of its listing. */
export interface SessionQuery extends PageRequest, SessionOrder, SessionConditions {
  /** The last characters of the id, at least 6: letters, digits, `_` and `-`. */
  readonly id_suffix: string | null;
  /** True: the deleted sessions instead of the active ones. */
  readonly deleted: boolean;
}

/** The query without a filter: every active session, archived ones included, the last active first. */
export const anySession: Omit<SessionQuery, keyof PageRequest> = {
  ...noConditions,
  id_suffix: null,
  deleted: false,
  ...lastActiveFirst,
};

/** A condition that is missing passes every session. */
export interface SearchRequest extends PageRequest, Partial<SessionConditions> {
  /** Words that a message must contain, all of them, in any order: `word`, `"a phrase"`, `begin*`. 1 to 500 characters (code points). */
  readonly query: string;
}

/** The marks before and after each hit in a snippet. They occur nowhere else in a snippet. */
export const snippetMarks = { open: '⟦', close: '⟧' } as const;

export interface SearchHit {
  readonly message_id: string;
  readonly role: Role;
  readonly created_at: string;
  /** The part of the message around its hits: plain text on one line, with {@link snippetMarks}. */
  readonly snippet: string;
}

export interface SearchItem {
  readonly session: Session;
  /**
   * The score of the session's best hit, which grows with the number of matches and shrinks with the length of the message. Scores of one
   * query are comparable.
   */
  readonly score: number;
  /** The best messages of the session, at most three, the best first. */
  readonly hits: readonly SearchHit[];
}

/** Found sessions, ordered by score, then by their newest hit. */
export interface SearchPage extends Page<SearchItem> {
  /** True when there are more than 10,000 hits: then only the newest 10,000 were ranked. */
  readonly newest_only: boolean;
}

/** The stored session that an import replaces, with the extension `sync`. */
export interface ReplacedSession {
  /** The stored session as it was read. If it has changed since, nothing is stored. */
  readonly session: SessionFacts & Partial<Session>;
  /** A session that holds the messages of the stored one that the record lacks; null or missing if it lacks none. */
  readonly kept_in?: string | null;
}

/** A session with all of its messages, as exports write it and imports read it. */
export interface SessionRecord {
  /** An export of an earlier version lacks the settings, which an import then leaves empty. */
  readonly session: SessionFacts & Partial<Session>;
  /** The visible line, by position, from 0. */
  readonly messages: readonly Message[];
  /** The alternatives and the undone messages, in the order of {@link MessageQuery} with `all`. Missing if there are none. */
  readonly hidden_messages?: readonly Message[];
  /** Only in an import that replaces a stored session. */
  readonly replaces?: ReplacedSession;
}

export interface MessageQuery extends PageRequest {
  /**
   * True: also the alternatives and the undone messages, ordered by their positions, then by their ids, byte by byte. A cursor is valid
   * only with the same value. By default the visible line alone.
   */
  readonly all?: boolean;
  /** True: the page begins so many messages before the end of the visible line. Not with `all` or a cursor. */
  readonly last?: boolean;
}

export interface RegenerateRequest {
  /** The mode that is to reply; missing for the session's own. */
  readonly mode?: string;
  /** As in a chat request. */
  readonly schema?: string;
}

export interface ForkRequest {
  /** The position of the last message to copy, which must be a reply. Missing: through the last turn that has a reply. */
  readonly through?: number;
  /** The title of the fork, under the rules of a created session's title; null for none. Missing: the title of the parent. */
  readonly title?: string | null;
}

/** The result of an undo or a redo. */
export interface MovedTurn {
  /** The session after the move. */
  readonly session: Session;
  /** The user's message of the turn. */
  readonly message: Message;
}

/** The fields of a session to change: at least one. A missing field stays unchanged. */
export interface SessionChanges {
  /** Null removes the title. */
  readonly title?: string | null;
  /** Null removes the system prompt. */
  readonly system?: string | null;
  /** Replaces all parameters of the session. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly pinned?: boolean;
  readonly archived?: boolean;
  /** Replaces all tags of the session. */
  readonly tags?: readonly string[];
  readonly user?: string | null;
}

/** The tags that each session of a batch gains and loses. No tag is in both lists; at least one list holds a tag. */
export interface TagChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** The result for one id of a batch. */
export interface BatchItem<Status extends string> {
  readonly session_id: string;
  readonly status: Status | 'not_found';
}

export interface BatchResult<Status extends string> {
  /** In the order of the ids of the request. */
  readonly items: readonly BatchItem<Status>[];
}

/** The result for one id of a batch that changes the ordering. `too_many_tags`: the session would have more tags than the limit. */
export interface OrderedItem<Status extends string = string> {
  readonly session_id: string;
  readonly status: Status | 'not_found' | 'too_many_tags';
  /** What the batch changed, so that it can be undone: the names of tags, `pinned` or `archived`. Empty if all was so before. */
  readonly changed: readonly string[];
}

export interface OrderedResult<Status extends string> {
  /** In the order of the ids of the request. */
  readonly items: readonly OrderedItem<Status>[];
}

/**
 * The operations of the archive. They reject like those of {@link ConversationService}, and with `UNSUPPORTED` if a server lacks the
 * archive.
 */
export interface SessionArchive {
  /** Lists the sessions of the project, one page at a time. */
  listSessions(call: Call, query: SessionQuery): Promise<Result<Page<Session>>>;

  /** Finds active sessions by the words of their messages. Rejects with `INVALID_REQUEST` for a query without a word. */
  searchSessions(call: Call, request: SearchRequest): Promise<Result<SearchPage>>;

  /** Lists the messages of both sides by position. A page of long messages ends before its limit; `next_cursor` continues it. */
  listMessages(call: Call, sessionId: string, query: MessageQuery): Promise<Result<Page<Message>>>;

  /**
   * Changes the title, the settings and the ordering of a session, under the rules of created sessions. This is no activity, so
   * `updated_at` stays. A turn that runs keeps the settings that it began with.
   */
  changeSession(call: Call, sessionId: string, changes: SessionChanges): Promise<Result<Session>>;

  /** Undoes a deletion. An active session stays as it is. */
  restoreSession(call: Call, sessionId: string): Promise<Result<Session>>;

  /** Deletes 1 to 1,000 sessions in one transaction. */
  deleteSessions(call: Call, sessionIds: readonly string[]): Promise<Result<BatchResult<'deleted'>>>;

  /** Restores 1 to 1,000 sessions in one transaction. */
  restoreSessions(call: Call, sessionIds: readonly string[]): Promise<Result<BatchResult<'restored'>>>;

  // The next three change the ordering of 1 to 1,000 sessions in one transaction, take an idempotency key, and need the extension `order`.

  /** Pins the sessions, or unpins them. */
  pinSessions(
    call: Call,
    sessionIds: readonly string[],
    pinned: boolean,
  ): Promise<Result<OrderedResult<'pinned' | 'unpinned'>>>;

  /** Archives the sessions, or takes them out of the archive. */
  archiveSessions(
    call: Call,
    sessionIds: readonly string[],
    archived: boolean,
  ): Promise<Result<OrderedResult<'archived' | 'unarchived'>>>;

  /** Adds and removes tags. */
  tagSessions(
    call: Call,
    sessionIds: readonly string[],
    change: TagChange,
  ): Promise<Result<OrderedResult<'tagged'>>>;

  /**
   * Stores a session with its id, its times and all of its messages, as a whole or not at all. An equal session that exists stays
   * unchanged. One whose visible messages are the first of the record gets the others; title and settings stay. Rejects with
   * `INVALID_REQUEST` if the id belongs to an unequal session, or if the record contradicts itself.
   *
   * A record with `replaces` becomes the stored session in all fields, and no message is lost: each stored one is in the record, visible or
   * hidden, or in the session `kept_in`. Rejects with `SESSION_BUSY` if the stored session has changed since it was read, if a turn runs in
   * it, or if a message would be lost.
   */
  importSession(call: Call, record: SessionRecord): Promise<Result<Session>>;

  // The following operations need the extension `lines`. Each takes an idempotency key. All but `forkSession` wait for a turn that runs in
  // the session, and then reject with `SESSION_BUSY`.

  /**
   * Asks for another reply to the last message; events and errors are those of a chat. The stored reply stays until a whole one
   * takes its place, and becomes an alternative then. A cut reply becomes an alternative itself, unless the standing one is cut too.
   * Rejects with `INVALID_REQUEST` if the session has no message.
   */
  regenerate(
    call: Call,
    sessionId: string,
    request: RegenerateRequest,
    form: ReplyForm,
  ): AsyncIterable<ChatEvent>;

  /** Takes the last turn back, whole or cut. Nothing is erased. Rejects with `INVALID_REQUEST` if the session has no turn. */
  undoTurn(call: Call, sessionId: string): Promise<Result<MovedTurn>>;

  /**
   * Brings back the turn that was undone last. Rejects with `INVALID_REQUEST` if there is none, or if a message was sent or another reply
   * asked for since.
   */
  redoTurn(call: Call, sessionId: string): Promise<Result<MovedTurn>>;

  /**
   * Makes a session of its own with a copy of the visible line and of the settings, also while the parent runs a turn. The copies have
   * new ids and the same times, and count in no usage report. Rejects with `INVALID_REQUEST` if there is no reply at `through`.
   */
  forkSession(call: Call, sessionId: string, request: ForkRequest): Promise<Result<Session>>;
}
