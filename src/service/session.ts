// A session and what it holds. Field names are the API's own, so that a value here is a body's `data` as it stands.

/** A session just created: the four fields of the interface document section 2, these alone. */
export interface NewSession {
  readonly session_id: string;
  /** Null when none was given. */
  readonly title: string | null;
  /** ISO 8601, UTC, milliseconds; so are all times here. */
  readonly created_at: string;
  /** Stored messages of both sides: a turn counts 2. */
  readonly message_count: number;
}

export interface Session extends NewSession {
  /** The last activity: creation, or the last message stored. */
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

/** A cut reply: it did not come to its end, and is kept as far as it came. */
export function isCut({ finish_reason }: { readonly finish_reason: FinishReason | null }): boolean {
  return finish_reason === 'interrupted' || finish_reason === 'error';
}

export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

export interface Message {
  readonly message_id: string;
  /** Its place in the session, from 0, without gaps. */
  readonly position: number;
  readonly role: Role;
  readonly content: string;
  readonly mode: string;
  /** Null for a user's message. */
  readonly finish_reason: FinishReason | null;
  /** Null where the engine does not count. */
  readonly usage: Usage | null;
  readonly created_at: string;
  /** Why a reply ended in `error`: the code of the failure. Left out of every other message, and where it is not known. */
  readonly error_code?: string;
}

/** One page of a listing, and where the next begins: null after the last. A cursor is opaque. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

/** True for a session id that any server of the API may have given out: 1 to 255 visible characters, not `.` or `..`. */
export function isSessionId(text: string): boolean {
  // Most ids are plain ASCII, and the Unicode tables behind `\p{…}` take a quarter of a millisecond to load.
  const isVisible = /^[!-~]{1,255}$/.test(text) || /^[^\p{C}\p{Z}\s]{1,255}$/u.test(text);
  return isVisible && text !== '.' && text !== '..';
}
