// The six operations of the interface document (section 4). Every server of the API has them.
import type { Answer } from './answer.ts';
import type { Call } from './call.ts';
import type { ChatEvent, ChatRequest, ReplyForm } from './chat-event.ts';
import type { Mode } from './mode.ts';
import type { DeletedSession, NewSession, Session } from './session.ts';

/** What a key resolves to. A field that another server does not tell is empty. */
export interface KeyIdentity {
  readonly project_id: string;
  readonly project_name: string;
  readonly key_id: string;
  readonly key_name: string;
  readonly created_at: string;
}

export interface CreateSessionRequest {
  /** At most 200 characters (code points), none of them a control character; null for none. */
  readonly title: string | null;
}

/**
 * All operations reject with a {@link ParleyError}: `INVALID_API_KEY` for a key that is absent, malformed, unknown or
 * revoked; `INVALID_REQUEST` for a value against its rule; `SESSION_NOT_FOUND` for a session that never existed, is
 * deleted, or belongs to another project (the three cannot be told apart). A `signal` that fires rejects with its reason.
 */
/** A deletion, and how it is known of. */
export interface Deletion extends Answer<DeletedSession> {
  /**
   * True where the request was repeated, the answer to it being lost, and the repetition found no session: it counts as deleted by the
   * first, though it may not have been there then.
   */
  readonly repeated: boolean;
}

export interface ConversationService {
  /** Another server may tell other things as well. */
  verify(call: Call): Promise<Answer<KeyIdentity>>;

  models(call: Call): Promise<Answer<readonly Mode[]>>;

  /**
   * One turn. The message is durable before `session` is yielded, and so before the engine is asked; the reply is durable
   * before `done`. A reply that is cut (the signal fires, the consumer stops reading, the engine fails) is kept as far as it
   * came, with `finish_reason` `interrupted` or `error`; the iteration then throws the signal's reason or the failure, which
   * carries `session_id` and `message_id`. Also rejects with `UNKNOWN_MODE`, `SESSION_BUSY`, `PAYLOAD_TOO_LARGE`,
   * `IDEMPOTENCY_MISMATCH`, `ENGINE_FAILED` and `ENGINE_TIMEOUT`.
   */
  chat(call: Call, request: ChatRequest, form: ReplyForm): AsyncIterable<ChatEvent>;

  createSession(call: Call, request: CreateSessionRequest): Promise<Answer<NewSession>>;

  getSession(call: Call, sessionId: string): Promise<Answer<Session>>;

  /** Soft: the session and its messages are hidden, not erased. */
  deleteSession(call: Call, sessionId: string): Promise<Deletion>;
}
