// The contract of conversation: the six operations of the interface document (section 4). Every server of the API has them.
import type { Call } from './call.ts';
import type { ChatEvent, ChatRequest, ReplyForm } from './chat-event.ts';
import type { Mode } from './mode.ts';
import type { Result } from './result.ts';
import type { DeletedSession, NewSession, Session } from './session.ts';

/** The facts of a key. A field that a third-party server does not send is empty. */
export interface KeyIdentity {
  readonly project_id: string;
  readonly project_name: string;
  readonly key_id: string;
  readonly key_name: string;
  readonly created_at: string;
}

export interface CreateSessionRequest {
  /** 1 to 200 characters (code points), none of them a control character; null for no title. */
  readonly title: string | null;
  /** The session's system prompt: 1 byte to 64 KiB of UTF-8, not white space alone; null or missing for none. */
  readonly system?: string | null;
  /** The session's parameters, under the rules of a mode's parameters. Missing for none. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** The person whose session it is: 1 to 255 visible characters (code points), and spaces between them. Null or missing for none. */
  readonly user?: string | null;
}

/** The result of a deletion. */
export interface Deletion extends Result<DeletedSession> {
  /**
   * True if the answer to the first request was lost and a repeated request found no session. The session counts as deleted by the first
   * request, although it may not have existed before.
   */
  readonly repeated: boolean;
}

/**
 * The six operations. All of them reject with a {@link ParleyError}: `INVALID_API_KEY` for a key that is missing, malformed, unknown,
 * revoked or expired; `FORBIDDEN` for an operation outside of the key's scope; `INVALID_REQUEST` for a value against its rule;
 * `SESSION_NOT_FOUND` for a session that never existed, is deleted, or belongs to another project (the three are indistinguishable;
 * interface document, section 5). A `signal` that fires rejects with its reason. A remote backend also rejects with `NETWORK`, `TIMEOUT`,
 * `REDIRECT` and `BAD_RESPONSE` if it gets no usable answer.
 */
export interface ConversationService {
  /** Returns the facts of the key. A third-party server may send further fields. */
  verify(call: Call): Promise<Result<KeyIdentity>>;

  /** The modes that a chat may name. */
  models(call: Call): Promise<Result<readonly Mode[]>>;

  /**
   * Runs one turn. The message is durable before `session` is yielded, and therefore before the engine is asked. The reply is durable
   * before `done` is yielded. A reply is cut when the signal fires, the caller stops reading, or the engine fails. Its received part is
   * then stored with the `finish_reason` `interrupted` or `error`, and the iteration throws the reason of the signal, or the failure with
   * `session_id` and `message_id`. The iteration also throws `UNKNOWN_MODE`, `SESSION_BUSY` (another turn of the session ran for the whole
   * wait), `BUDGET_EXCEEDED`, `PAYLOAD_TOO_LARGE`, `IDEMPOTENCY_MISMATCH`, `RATE_LIMITED`, `UNAVAILABLE`, `ENGINE_FAILED` and
   * `ENGINE_TIMEOUT`. A repeated key whose turn was cut and then undone is `INVALID_REQUEST`, and so is a request without a mode if the
   * session has none: a new session, or one whose messages all come from another program.
   */
  chat(call: Call, request: ChatRequest, form: ReplyForm): AsyncIterable<ChatEvent>;

  /** Creates an empty session. */
  createSession(call: Call, request: CreateSessionRequest): Promise<Result<NewSession>>;

  /** Fetches one session, without its messages. */
  getSession(call: Call, sessionId: string): Promise<Result<Session>>;

  /** Hides the session and its messages, and erases nothing (interface document, section 4). */
  deleteSession(call: Call, sessionId: string): Promise<Deletion>;
}
