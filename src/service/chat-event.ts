// One chat as a stream of events: `session`, then `delta` (and `reasoning`) as the reply comes, then `done`.
import type { FinishReason, Usage } from './session.ts';

export interface ChatRequest {
  /** Name of a mode, as models lists it. */
  readonly mode: string;
  readonly message: string;
  /** The session to continue; null starts a new one. */
  readonly session_id: string | null;
  /** Of the new session; left out beside `session_id`, and for a title that the service makes of the message. Rules as for a created session. */
  readonly title?: string;
}

export interface ChatStart {
  readonly session_id: string;
  /** The stored message of the user. */
  readonly message_id: string;
  readonly mode: string;
}

export interface ChatReply {
  readonly session_id: string;
  /** The stored reply. */
  readonly message_id: string;
  /** The mode that replied: another than the one asked for when that failed and fell back. */
  readonly mode: string;
  readonly reply: string;
  readonly finish_reason: FinishReason;
  readonly created_at: string;
  readonly message_count: number;
  readonly usage: Usage | null;
  /** How many earlier turns of the session the model was not told of, for want of room. In a body it is left out where it is 0. */
  readonly turns_left_out: number;
}

/**
 * `session`: the message is durable. `delta`: the next piece of the reply. `reasoning`: the model's own notes, never part
 * of the reply. `done`: the reply is durable; `body` is the whole JSON answer. Nothing follows `done`.
 */
export type ChatEvent =
  | { readonly event: 'session'; readonly data: ChatStart }
  | { readonly event: 'delta'; readonly data: { readonly text: string } }
  | { readonly event: 'reasoning'; readonly data: { readonly text: string } }
  | { readonly event: 'done'; readonly data: ChatReply; readonly body: unknown };

/** `whole`: nobody looks at the pieces of the reply, so they may be left out, and `session` may come with `done`. */
export type ReplyForm = 'pieces' | 'whole';
