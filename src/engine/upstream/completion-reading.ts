// Reads a streamed completion: its chunks become events of text and reasoning, and one end. A reply has ended when the server names the
// reason. `[DONE]` and the token count may follow or be missing.
import type { ServerSentEvent } from '../../http/event-stream.ts';
import { parseJson } from '../../http/foreign-json.ts';
import type { ParleyError } from '../../service/errors.ts';
import type { Usage } from '../../service/session.ts';
import type { EngineEvent } from '../reply-engine.ts';
import { type CompletionChunk, isNote, readChunk } from './completion-chunk.ts';
import { SurrogateRepair } from './surrogate-repair.ts';
import { type SplitText, ThinkTags } from './think-tags.ts';
import { badReply, filtered, notAnApi, type Upstream, upstreamFailure } from './upstream-failure.ts';

const doneMark = '[DONE]';
/** Far more than any model writes in one reply. A reply without an end would fill the memory and the store. */
const mostCharacters = 8 * 1024 * 1024;

interface JoinedText {
  readonly type: 'text' | 'reasoning';
  text: string;
}

export class CompletionReading {
  readonly #upstream: Upstream;
  readonly #tags: ThinkTags;
  readonly #texts = { reasoning: new SurrogateRepair(), text: new SurrogateRepair() };
  #characters = 0;
  #hasBegun = false;
  #hasText = false;
  #hasReasoning = false;
  #callsTool = false;
  /** The number of the reply that is read. It was asked for one, but a server may send several. */
  #index: number | null = null;
  #finish: string | null = null;
  #usage: Usage | null = null;
  #isDone = false;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
    this.#tags = new ThinkTags(upstream.settings.think_tags);
  }

  /** True after the first text or reasoning, even while it is held back. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** True after the server has named the reason for the end. */
  get hasEnded(): boolean {
    return this.#finish !== null;
  }

  /** True after `finish` was yielded. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Yields the events of these chunks. Adjacent texts are joined. The events before a failure are yielded before it is thrown. */
  *take(events: readonly ServerSentEvent[]): Generator<EngineEvent> {
    let joined = null as JoinedText | null;
    for (const { event, data } of events) {
      const isEnd = isDoneMark(data);
      const value = isEnd ? null : parseJson(data);
      const chunk = readChunk(value);
      const problem = isEnd ? null : this.#problemOf(event, data, value, chunk);
      if (problem !== null || isEnd) {
        if (joined !== null) yield joined;
        if (problem === null) return yield* this.end();
        yield* this.rest();
        throw problem;
      }
      if (chunk === null) continue;
      this.#usage = chunk.usage ?? this.#usage;
      this.#index ??= chunk.index;
      if (chunk.index !== null && chunk.index !== this.#index) continue;
      const said = this.#split(chunk);
      for (const type of ['reasoning', 'text'] as const) {
        if (said[type] === '') continue;
        if (joined?.type === type) joined.text += said[type];
        else {
          if (joined !== null) yield joined;
          joined = { type, text: said[type] };
        }
      }
      // A reply that was cut stays cut, whatever end the server names after that.
      if (this.#finish === null || this.#finish === 'stop') this.#finish = chunk.finish ?? this.#finish;
      this.#callsTool ||= chunk.callsTool;
      if (this.#characters > mostCharacters) {
        if (joined !== null) yield joined;
        throw badReply(
          this.#upstream,
          'bad_reply',
          `sent more than ${mostCharacters} characters without an end of its reply`,
        );
      }
    }
    if (joined !== null) yield joined;
  }

  /** Yields what was held back. Nothing follows it. */
  *rest(): Generator<EngineEvent> {
    const late = this.#tags.take(this.#texts.text.rest());
    const held = this.#tags.rest();
    const { reasoning, text } = this.#noted({
      reasoning: this.#texts.reasoning.rest() + late.reasoning + held.reasoning,
      text: late.text + held.text,
    });
    if (reasoning !== '') yield { type: 'reasoning', text: reasoning };
    if (text !== '') yield { type: 'text', text };
  }

  /** Yields the events of a completion that is not streamed. */
  *whole(text: string): Generator<EngineEvent> {
    if (readChunk(parseJson(text)) === null) throw notAnApi(this.#upstream, 'another JSON');
    yield* this.take([
      { event: 'message', data: text },
      { event: 'message', data: doneMark },
    ]);
  }

  /** Yields what was held back, and the end. Throws for an end that a reply must not have. */
  *end(): Generator<EngineEvent> {
    yield* this.rest();
    const finish = this.#finish ?? 'stop';
    if (['content_filter', 'safety', 'recitation'].includes(finish.toLowerCase())) {
      throw filtered(this.#upstream);
    }
    if (['error', 'insufficient_system_resource', 'abort'].includes(finish)) {
      throw badReply(this.#upstream, 'broken_off', `ended its reply early (${finish})`);
    }
    const reason = /length|max_tokens/i.test(finish) ? 'length' : 'stop';
    if (!this.#hasText) throw this.#empty(reason);
    this.#isDone = true;
    yield { type: 'finish', reason, usage: this.#usage };
  }

  #split(chunk: CompletionChunk): SplitText {
    if (chunk.reasoning !== '') this.#tags.stopSeparating();
    this.#hasBegun ||= chunk.reasoning !== '' || chunk.text !== '';
    this.#characters += chunk.reasoning.length + chunk.text.length;
    const { reasoning, text } = this.#tags.take(this.#texts.text.take(chunk.text));
    return this.#noted({ reasoning: this.#texts.reasoning.take(chunk.reasoning) + reasoning, text });
  }

  #noted(said: SplitText): SplitText {
    this.#hasReasoning ||= said.reasoning !== '';
    this.#hasText ||= said.text.trim() !== '';
    return said;
  }

  #problemOf(event: string, data: string, value: unknown, chunk: CompletionChunk | null): ParleyError | null {
    if (event === 'error' || chunk?.error) return this.#failure(data, chunk);
    if (chunk !== null || data.trim() === '' || this.hasEnded || isNote(value)) return null;
    return badReply(this.#upstream, 'bad_reply', 'sent a chunk of its reply that cannot be read');
  }

  #empty(reason: 'stop' | 'length'): ParleyError {
    const { name, think_tags } = this.#upstream.settings;
    if (reason === 'length' && this.#hasReasoning) {
      return badReply(this.#upstream, 'empty_reply', 'used up all its tokens before it began to reply', {
        kind: 'allow_longer_reply',
        mode: name,
      });
    }
    if (this.#callsTool) {
      return badReply(
        this.#upstream,
        'tool_call',
        'sent no reply: the model asks for a tool, and Parley offers it none',
        'Ask in other words, or use another model.',
      );
    }
    if (!this.#hasReasoning) return badReply(this.#upstream, 'empty_reply', 'sent an empty reply');
    const isPerhapsReply = this.#tags.isOpen && think_tags === 'open';
    return badReply(
      this.#upstream,
      'empty_reply',
      'sent its notes and no reply',
      isPerhapsReply ? { kind: 'split_think_tags', mode: name } : { kind: 'show_reasoning' },
    );
  }

  #failure(text: string, chunk: CompletionChunk | null): ParleyError {
    const isObject = typeof chunk?.error === 'object';
    const said = isObject ? JSON.stringify({ error: chunk.error }) : text;
    return upstreamFailure(this.#upstream, { status: null, retryAfter: null, text: said });
  }
}

/** True for the mark with or without white space around it, which some gateways add. */
function isDoneMark(data: string): boolean {
  return data === doneMark || (data.length < 16 && data.trim() === doneMark);
}
