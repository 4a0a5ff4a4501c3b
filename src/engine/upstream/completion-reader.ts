// Reads a streamed completion: its chunks become events of text and reasoning, and one end. A reply has ended when the server has sent the
// reason for the end. `[DONE]` and the token count may follow or be missing.
import { type ServerSentEvent, strayLine } from '../../http/event-stream.ts';
import { parsePythonJson } from '../../http/foreign-json.ts';
import type { ParleyError } from '../../service/errors.ts';
import type { Usage } from '../../service/session.ts';
import type { EngineEvent } from '../reply-engine.ts';
import { type CompletionChunk, isKeepAlive, readChunk } from './completion-chunk.ts';
import { SurrogateRepair } from './surrogate-repair.ts';
import { type SplitText, ThinkTags } from './think-tags.ts';
import {
  contentFilterFailure,
  contentTypeFailure,
  replyFailure,
  type Upstream,
  upstreamFailure,
} from './upstream-failure.ts';

const doneMark = '[DONE]';
/** Far more than any model writes in one reply. An endless reply would fill the memory and the store. */
const maxCharacters = 8 * 1024 * 1024;

/**
 * Matches a reply that a filter stopped. Gemini sends `content_filter: RECITATION`, or its own name of the reason alone. GLM sends
 * `sensitive`.
 */
const filterReason =
  /content_filter|safety|recitation|prohibited_content|blocklist|spii|^(refusal|sensitive)$/i;
/** The reasons of replies that their server did not complete: of OpenRouter, GLM, DeepSeek and vLLM. */
const brokenReasons: readonly string[] = ['error', 'network_error', 'insufficient_system_resource', 'abort'];

interface JoinedText {
  readonly type: 'text' | 'reasoning';
  text: string;
}

export class CompletionReader {
  readonly #upstream: Upstream;
  readonly #tags: ThinkTags;
  readonly #texts = { reasoning: new SurrogateRepair(), text: new SurrogateRepair() };
  #characters = 0;
  #hasBegun = false;
  #hasText = false;
  #hasReasoning = false;
  #callsTool = false;
  /** The index of the reply that is read. The request asks for one reply, but a server may send several. */
  #index: number | null = null;
  #finish: string | null = null;
  #usage: Usage | null = null;
  #hasRead = false;
  #isDone = false;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
    this.#tags = new ThinkTags(upstream.settings.think_tags);
  }

  /** True after the first text or reasoning, even while it is held back. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** True after the server has sent the reason for the end. */
  get hasEnded(): boolean {
    return this.#finish !== null;
  }

  /** True after the first chunk, or the mark of the end. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  /** True after `finish` was yielded. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Yields the events of these chunks. Adjacent texts are joined. The events before a failure are yielded before it is thrown. */
  *take(events: readonly ServerSentEvent[]): Generator<EngineEvent> {
    let joinedText = null as JoinedText | null;
    for (const received of events) {
      const serverEvent = received.event === strayLine ? eventOfLine(received.data) : received;
      if (serverEvent === null) continue;
      const { event, data, mayBeCut } = serverEvent;
      const isEnd = isDoneMark(data);
      const value = isEnd ? null : parsePythonJson(data);
      const chunk = readChunk(value);
      this.#hasRead ||= isEnd || chunk !== null || mayBeCut === true;
      // The connection reports a reply that broke off.
      if (mayBeCut && event !== 'error' && value === undefined) continue;
      const problem = isEnd ? null : this.#problemOf(event, data, value, chunk);
      if (problem !== null || isEnd) {
        if (joinedText !== null) yield joinedText;
        if (problem === null) return yield* this.end();
        yield* this.rest();
        throw problem;
      }
      if (chunk === null) continue;
      this.#usage = chunk.usage ?? this.#usage;
      this.#index ??= chunk.index;
      if (chunk.index !== null && chunk.index !== this.#index) continue;
      const parts = this.#split(chunk);
      for (const type of ['reasoning', 'text'] as const) {
        if (parts[type] === '') continue;
        if (joinedText?.type === type) joinedText.text += parts[type];
        else {
          if (joinedText !== null) yield joinedText;
          joinedText = { type, text: parts[type] };
        }
      }
      // A reply that was cut stays cut, whatever reason the server sends after that.
      if (this.#finish === null || this.#finish === 'stop') this.#finish = chunk.finish ?? this.#finish;
      this.#callsTool ||= chunk.callsTool;
      if (this.#characters > maxCharacters) {
        if (joinedText !== null) yield joinedText;
        throw replyFailure(
          this.#upstream,
          'bad_reply',
          `sent more than ${maxCharacters} characters without an end of its reply`,
        );
      }
    }
    if (joinedText !== null) yield joinedText;
  }

  /** Yields the text that was held back. Must be the last call. */
  *rest(): Generator<EngineEvent> {
    const late = this.#tags.take(this.#texts.text.rest());
    const rest = this.#tags.rest();
    const { reasoning, text } = this.#record({
      reasoning: this.#texts.reasoning.rest() + late.reasoning + rest.reasoning,
      text: late.text + rest.text,
    });
    if (reasoning !== '') yield { type: 'reasoning', text: reasoning };
    if (text !== '') yield { type: 'text', text };
  }

  /** Yields the events of a completion that is not streamed. */
  *whole(text: string): Generator<EngineEvent> {
    if (readChunk(parsePythonJson(text)) === null) throw contentTypeFailure(this.#upstream, 'another JSON');
    yield* this.take([
      { event: 'message', data: text },
      { event: 'message', data: doneMark },
    ]);
  }

  /** Yields the text that was held back, and the end. Throws if the reply ended with a failure. */
  *end(): Generator<EngineEvent> {
    yield* this.rest();
    const finish = this.#finish ?? 'stop';
    if (filterReason.test(finish)) throw contentFilterFailure(this.#upstream);
    if (brokenReasons.includes(finish)) {
      throw replyFailure(this.#upstream, 'broken_off', `ended its reply early (${finish})`);
    }
    const reason = /length|max_tokens|context_window/i.test(finish) ? 'length' : 'stop';
    if (!this.#hasText) throw this.#empty(reason);
    this.#isDone = true;
    yield { type: 'finish', reason, usage: this.#usage };
  }

  #split(chunk: CompletionChunk): SplitText {
    if (chunk.reasoning !== '') this.#tags.stopSeparating();
    this.#hasBegun ||= chunk.reasoning !== '' || chunk.text !== '';
    this.#characters += chunk.reasoning.length + chunk.text.length;
    const { reasoning, text } = this.#tags.take(this.#texts.text.take(chunk.text));
    return this.#record({ reasoning: this.#texts.reasoning.take(chunk.reasoning) + reasoning, text });
  }

  /** Records which parts the reply has. */
  #record(parts: SplitText): SplitText {
    this.#hasReasoning ||= parts.reasoning !== '';
    this.#hasText ||= parts.text.trim() !== '';
    return parts;
  }

  #problemOf(event: string, data: string, value: unknown, chunk: CompletionChunk | null): ParleyError | null {
    if (event === 'error' || chunk?.error) return this.#failure(data, chunk);
    if (chunk !== null || data.trim() === '' || this.hasEnded || isKeepAlive(value)) return null;
    return replyFailure(this.#upstream, 'bad_reply', 'sent a chunk of its reply that cannot be read');
  }

  #empty(reason: 'stop' | 'length'): ParleyError {
    const { name, think_tags, parameters } = this.#upstream.settings;
    // OpenAI does not send the reasoning that has used up the tokens.
    if (reason === 'length') {
      return replyFailure(this.#upstream, 'empty_reply', 'used all its tokens before it began the reply', {
        kind: 'allow_longer_reply',
        mode: name,
        ofCompletion: 'max_completion_tokens' in parameters,
      });
    }
    if (this.#callsTool) {
      return replyFailure(
        this.#upstream,
        'tool_call',
        'sent no reply: the model called a tool, and Parley offers no tools',
        'Rephrase the message, or use another model.',
      );
    }
    if (!this.#hasReasoning) return replyFailure(this.#upstream, 'empty_reply', 'sent an empty reply');
    const mayBeReply = this.#tags.isOpen && think_tags === 'open';
    return replyFailure(
      this.#upstream,
      'empty_reply',
      'sent its notes and no reply',
      mayBeReply ? { kind: 'split_think_tags', mode: name } : { kind: 'show_reasoning' },
    );
  }

  #failure(text: string, chunk: CompletionChunk | null): ParleyError {
    const isObject = typeof chunk?.error === 'object';
    const body = isObject ? JSON.stringify({ error: chunk.error }) : text;
    return upstreamFailure(this.#upstream, { status: null, retryAfter: null, text: body });
  }
}

/** True for the mark with or without white space around it, which some gateways add. */
function isDoneMark(data: string): boolean {
  return data === doneMark || (data.length < 16 && data.trim() === doneMark);
}

/**
 * The event that a line stands for; null for a line without meaning. llama.cpp before September 2025 sends an error as a field `error`, and
 * some servers send each chunk or an error as a line of JSON.
 */
function eventOfLine(line: string): ServerSentEvent | null {
  const [, error] = /^error: ?(.*)/.exec(line) ?? [];
  if (error !== undefined) return { event: 'error', data: error };
  return readChunk(parsePythonJson(line)) === null ? null : { event: 'message', data: line };
}
