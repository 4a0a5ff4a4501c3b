// A session and its messages. Field names are those of the API, so that a value here is the `data` of a body as it stands.

/** A session just created: the four fields of the interface document (section 2), and no others. */
export interface NewSession {
  readonly session_id: string;
  /** Null for a session without a title. */
  readonly title: string | null;
  /** ISO 8601, UTC, milliseconds. All times in this room have this form. */
  readonly created_at: string;
  /** Stored messages of both sides: a turn counts 2. */
  readonly message_count: number;
}

export interface Session extends NewSession {
  /** The last activity: the creation, or the last message that was stored. */
  readonly updated_at: string;
}

export interface DeletedSession {
  readonly session_id: string;
  readonly deleted_at: string;
}

export type Role = 'user' | 'assistant';

export const finishReasons = ['stop', 'length', 'interrupted', 'error'] as const;

/** How a reply ended. */
export type FinishReason = (typeof finishReasons)[number];

/** True for a cut reply: it did not come to its end, and is kept as far as it came. */
export function isCut({ finish_reason }: { readonly finish_reason: FinishReason | null }): boolean {
  return finish_reason === 'interrupted' || finish_reason === 'error';
}

export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

export interface Message {
  readonly message_id: string;
  /** The place of the message in the session, from 0, without gaps. */
  readonly position: number;
  readonly role: Role;
  readonly content: string;
  readonly mode: string;
  /** Null for a user's message. */
  readonly finish_reason: FinishReason | null;
  /** Null for a user's message, and for an engine that does not count. */
  readonly usage: Usage | null;
  readonly created_at: string;
  /** The code of the failure that ended a reply in `error`. It is missing on every other message, and where the code is not known. */
  readonly error_code?: string;
}

/** One page of a listing. `next_cursor` is the opaque place of the next page; null after the last. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

/** True for a session id that a server of the API may have given out: 1 to 255 visible characters, not `.` or `..`. */
export function isSessionId(text: string): boolean {
  // Most ids are plain ASCII. The Unicode tables behind `\p{…}` take a quarter of a millisecond to load, so they are tried last.
  const isVisible = /^[!-~]{1,255}$/.test(text) || /^[^\p{C}\p{Z}\s]{1,255}$/u.test(text);
  return isVisible && text !== '.' && text !== '..';
}
