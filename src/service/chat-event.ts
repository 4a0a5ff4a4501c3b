// A chat as a stream of events: `session` first, then `delta` and `reasoning` while the reply arrives, then `done`.
import type { ParleyError } from './errors.ts';
import type { FinishReason, Usage } from './session.ts';

/** One message, its mode and its session. */
export interface ChatRequest {
  /**
   * Name of a mode, as `models` lists it. Null for the mode of the session, which `session_id` must name then; only a service with the
   * extension `mode` takes that.
   */
  readonly mode: string | null;
  /** 1 byte to 1 MiB of UTF-8, not white space alone. */
  readonly message: string;
  /** The session to continue; null starts a new one. */
  readonly session_id: string | null;
  /**
   * The title of the new session, under the rules of a created session's title. Missing with a `session_id`, and if the service is to make
   * the title from the message.
   */
  readonly title?: string;
  /** The settings of the new session, under the rules of created sessions. Missing with a `session_id`, and for none. */
  readonly system?: string | null;
  readonly parameters?: Readonly<Record<string, unknown>>;
  /**
   * The person to whom the new session belongs, under the rules of created sessions. With a `session_id`, the session must belong to this
   * person. If the field is missing, a new session belongs to nobody, and a continued one may belong to anybody.
   */
  readonly user?: string;
  /**
   * The schema of the reply: an object of JSON Schema as a text of JSON, at most 256 KiB. The model is asked for JSON that matches it. The
   * service does not check the reply.
   */
  readonly schema?: string;
}

/** A request that names its mode. */
export type ChatRequestInMode = ChatRequest & { readonly mode: string };

/** The facts that are known once the message is stored. */
export interface ChatStart {
  readonly session_id: string;
  /** Id of the stored message of the user. */
  readonly message_id: string;
  readonly mode: string;
}

/** The reply of a turn, as it is stored. */
export interface ChatReply {
  readonly session_id: string;
  /** Id of the stored reply. */
  readonly message_id: string;
  /** The mode that replied. It differs from the requested mode when that mode failed and fell back to this one. */
  readonly mode: string;
  readonly reply: string;
  readonly finish_reason: FinishReason;
  readonly created_at: string;
  /** Stored messages of the session, both sides: a turn counts 2. */
  readonly message_count: number;
  readonly usage: Usage | null;
  /**
   * How many earlier turns of the session the model did not get, because they do not fit into its context. A body leaves the field out if
   * it is 0.
   */
  readonly turns_left_out: number;
  /** The failure of the requested mode, if its fallback replied. Only the embedded service has it, and no body contains it. */
  readonly failure?: ParleyError;
}

/**
 * `session`: the message is durable. `delta`: the next chunk of the reply. `reasoning`: the model's own notes, which are never part of the
 * reply. `done`: the reply is durable, and `body` is the whole JSON answer. Nothing follows `done`.
 */
export type ChatEvent =
  | { readonly event: 'session'; readonly data: ChatStart }
  | { readonly event: 'delta'; readonly data: { readonly text: string } }
  | { readonly event: 'reasoning'; readonly data: { readonly text: string } }
  | { readonly event: 'done'; readonly data: ChatReply; readonly body: unknown };

/** How the caller wants the reply. `whole`: without its chunks, which may be left out; `session` may then come together with `done`. */
export type ReplyForm = 'chunks' | 'whole';
