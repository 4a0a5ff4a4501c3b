// A streamed completion as it is read: its chunks become pieces of text and of reasoning, and one end. A reply has ended when the
// server says why; `[DONE]`, and the count of tokens, may follow or be left out.
import type { ServerSentEvent } from '../../http/event-stream.ts';
import type { ParleyError } from '../../service/errors.ts';
import type { Usage } from '../../service/session.ts';
import type { EngineEvent } from '../reply-engine.ts';
import { type CompletionChunk, readChunk } from './completion-chunk.ts';
import { parseJson } from './json.ts';
import { badReply, filtered, notAnApi, type Upstream, upstreamFailure } from './upstream-failure.ts';

const doneMark = '[DONE]';

interface Piece {
  readonly type: 'text' | 'reasoning';
  text: string;
}

export class CompletionReading {
  readonly #upstream: Upstream;
  #hasText = false;
  #hasReasoning = false;
  #finish: string | null = null;
  #usage: Usage | null = null;
  #isDone = false;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  /** True once something was said. */
  get hasBegun(): boolean {
    return this.#hasText || this.#hasReasoning;
  }

  /** True once the server has said why the reply ends. */
  get hasEnded(): boolean {
    return this.#finish !== null;
  }

  /** True once `finish` was given out. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Pieces that came together are joined. What came before a failure is given out before that. */
  *take(events: readonly ServerSentEvent[]): Generator<EngineEvent> {
    let piece = null as Piece | null;
    for (const { event, data } of events) {
      const chunk = data === doneMark ? null : readChunk(parseJson(data));
      const problem = this.#problemOf(event, data, chunk);
      if (problem !== null || data === doneMark) {
        if (piece !== null) yield piece;
        if (problem !== null) throw problem;
        yield* this.end();
        return;
      }
      if (chunk === null) continue;
      for (const type of ['reasoning', 'text'] as const) {
        if (chunk[type] === '') continue;
        if (piece?.type === type) piece.text += chunk[type];
        else {
          if (piece !== null) yield piece;
          piece = { type, text: chunk[type] };
        }
      }
      this.#hasReasoning ||= chunk.reasoning !== '';
      this.#hasText ||= chunk.text !== '';
      this.#finish = chunk.finish ?? this.#finish;
      this.#usage = chunk.usage ?? this.#usage;
    }
    if (piece !== null) yield piece;
  }

  /** Of a server that does not stream: all at once. */
  *whole(text: string): Generator<EngineEvent> {
    if (readChunk(parseJson(text)) === null) throw notAnApi(this.#upstream, 'another JSON');
    yield* this.take([
      { event: 'message', data: text },
      { event: 'message', data: doneMark },
    ]);
  }

  *end(): Generator<EngineEvent> {
    const finish = this.#finish ?? 'stop';
    if (['content_filter', 'safety', 'recitation'].includes(finish.toLowerCase())) {
      throw filtered(this.#upstream);
    }
    if (['error', 'insufficient_system_resource', 'abort'].includes(finish)) {
      throw badReply(this.#upstream, `ended its reply early (${finish})`);
    }
    const reason = /length|max_tokens/i.test(finish) ? 'length' : 'stop';
    if (!this.#hasText) throw this.#empty(reason);
    this.#isDone = true;
    yield { type: 'finish', reason, usage: this.#usage };
  }

  #problemOf(event: string, data: string, chunk: CompletionChunk | null): ParleyError | null {
    if (data === doneMark) return null;
    if (event === 'error' || chunk?.error) return this.#failure(data, chunk);
    if (chunk !== null || data.trim() === '' || this.hasEnded) return null;
    return badReply(this.#upstream, 'sent a piece of a reply that cannot be read');
  }

  #empty(reason: 'stop' | 'length'): ParleyError {
    if (reason === 'length' && this.#hasReasoning) {
      return badReply(
        this.#upstream,
        'used up all its tokens before it began to reply',
        `Allow more: parley modes set ${this.#upstream.settings.name} --max-tokens NUMBER`,
      );
    }
    return badReply(this.#upstream, 'sent an empty reply');
  }

  #failure(text: string, chunk: CompletionChunk | null): ParleyError {
    const isObject = typeof chunk?.error === 'object';
    const said = isObject ? JSON.stringify({ error: chunk.error }) : text;
    return upstreamFailure(this.#upstream, { status: null, retryAfter: null, text: said });
  }
}
