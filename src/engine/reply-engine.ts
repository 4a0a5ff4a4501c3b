// What answers a message. An engine keeps nothing between calls: all that it may know of a conversation is in the context.
import type { Usage } from '../service/session.ts';

export interface ContextMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** True for a reply that was cut: it is kept as far as it came. */
  readonly cut: boolean;
}

export interface EngineContext {
  /** What was said before in this session, the oldest first, whole turns, within `historyMessages` and `contextTokens`. */
  readonly history: readonly ContextMessage[];
  /** The message to answer; before it, as paragraphs, those that a failure left without a word of an answer. */
  readonly message: string;
}

/** A piece of the reply, a piece of the model's own notes, or the end. Nothing follows `finish`. */
export type EngineEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'finish'; readonly reason: 'stop' | 'length'; readonly usage: Usage | null };

export interface ReplyEngine {
  readonly name: string;
  /** How many of a session's newest messages it reads; 0 for an engine that looks at the message alone. */
  readonly historyMessages: number;
  /** How many tokens history and message may have together, as estimated; left out by an engine that does not count in tokens. */
  readonly contextTokens?: number;
  /** True for an engine that ends its own silence with `ENGINE_TIMEOUT`, or waits for nothing. Any other is watched from outside. */
  readonly timesItself?: boolean;
  /** True: its `reasoning` is part of what a chat shows, also unasked. */
  readonly showsReasoning?: boolean;
  /** The mode to ask when this engine fails before it has said anything. */
  readonly fallback?: string | null;
  /**
   * Streams the reply. Rejects with a `ParleyError` (`ENGINE_FAILED`, `ENGINE_TIMEOUT`, `RATE_LIMITED`, `UNAVAILABLE`) or, once the
   * signal has fired, with its reason. Equal contexts may give unequal replies, but not from an offline engine.
   */
  reply(context: EngineContext, options: { readonly signal: AbortSignal }): AsyncIterable<EngineEvent>;
}
