// A session and its messages. The names of the fields are those of the API, so a value of these types is the `data` of a body.

/** A session that was just created: the four fields of the interface document (section 2) only. */
export interface NewSession {
  readonly session_id: string;
  /** Null for a session without a title. */
  readonly title: string | null;
  /** ISO 8601, UTC, milliseconds. All times in this room have this form. */
  readonly created_at: string;
  /** The stored messages of both sides: a turn counts 2. */
  readonly message_count: number;
}

/** What each turn of a session sends to its model in addition to the messages and to the settings of the mode. */
export interface SessionSettings {
  /** The session's system prompt, which follows that of the mode; null for none. */
  readonly system: string | null;
  /** Fields of each request to the model, such as `temperature` and `max_tokens`. They replace the mode's, name by name. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The settings of a session that was given none. */
export const noSettings: SessionSettings = { system: null, parameters: {} };

/** How a user orders sessions. A change of it is no activity of the session. */
export interface SessionOrdering {
  readonly pinned: boolean;
  /** True: listings leave the session out, unless they ask for it. */
  readonly archived: boolean;
  /** Each once, in the order of their code points. */
  readonly tags: readonly string[];
}

/** The ordering of a new session, and of a session of a server that keeps none. */
export const noOrdering: SessionOrdering = { pinned: false, archived: false, tags: [] };

/** The fields of a session in every export. Exports of earlier versions have no other fields of it. */
export interface SessionFacts extends NewSession {
  /** The time of the last activity: the creation, or the last stored message. */
  readonly updated_at: string;
}

export interface Session extends SessionFacts, SessionSettings, SessionOrdering {
  /** The mode of the last turn here, as its message asked for it; null before the first one. */
  readonly mode: string | null;
  /** The person whose session it is, as its creator named them; null for none. */
  readonly user: string | null;
  /** The session that this one was copied from; null for none. It may be deleted or erased by now. */
  readonly parent_id: string | null;
  /** The position of the last message that was copied from the parent; null without a parent. */
  readonly forked_at: number | null;
}

export interface DeletedSession {
  readonly session_id: string;
  readonly deleted_at: string;
}

export type Role = 'user' | 'assistant';

export const finishReasons = ['stop', 'length', 'interrupted', 'error'] as const;

/** How a reply ended. */
export type FinishReason = (typeof finishReasons)[number];

/** True for a cut reply: it did not reach its end, and its received part is stored. */
export function isCut({ finish_reason }: { readonly finish_reason: FinishReason | null }): boolean {
  return finish_reason === 'interrupted' || finish_reason === 'error';
}

/** The tokens of one turn, as its engine counted them. */
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
  /** Null for a user's message, and if the engine does not count tokens. */
  readonly usage: Usage | null;
  readonly created_at: string;
  /** The code of the failure that ended a reply in `error`. Missing on every other message, and if the code is unknown. */
  readonly error_code?: string;
  /**
   * The `message_id` of the user's message that this reply answers, in addition to the reply of the visible line. Missing on every message
   * that is no alternative. It never changes, also if the message is undone or brought back.
   */
  readonly alternative_of?: string;
  /** When the message was undone; both messages of a turn have the same time. Missing on every message that is not undone. */
  readonly undone_at?: string;
}

/**
 * True for a message from another program: an import gives it an id with a slash, and a fork keeps that mark. Its mode is the
 * name of a model there, so it is not the mode of its session here.
 */
export function isFromElsewhere({ message_id }: Pick<Message, 'message_id'>): boolean {
  return message_id.includes('/');
}

/** True for a message outside the visible line: an alternative, or a message that was undone. */
export function isHidden({ alternative_of, undone_at }: Message): boolean {
  return alternative_of !== undefined || undone_at !== undefined;
}

/** One page of a listing. `next_cursor` opens the next page; null after the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

/** True for a text that can be a session id of a server of the API: 1 to 255 visible characters, not `.` or `..`. */
export function isSessionId(text: string): boolean {
  // Most ids are plain ASCII. The Unicode tables for `\p{…}` take a quarter of a millisecond to load, so they are tried last.
  const isVisible = /^[!-~]{1,255}$/.test(text) || /^[^\p{C}\p{Z}\s]{1,255}$/u.test(text);
  return isVisible && text !== '.' && text !== '..';
}
