// The connection to the server of one mode. Each reply is one request. The key is read when it is first needed, and the silence of the
// server is limited. The events of one chunk of the body are passed on together.
import { Deadline } from '../../http/deadline.ts';
import { isEventStream, readEventBatches } from '../../http/event-stream.ts';
import { HttpClient, type HttpRequest } from '../../http/http-client.ts';
import { HttpFailure } from '../../http/http-failure.ts';
import type { HttpResponse } from '../../http/http-response.ts';
import { retryAfterOf } from '../../http/retry-after.ts';
import { ParleyError } from '../../service/errors.ts';
import type { ModeSettings } from '../../service/mode-settings.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import type { EngineContext, EngineEvent } from '../reply-engine.ts';
import { CompletionReading } from './completion-reading.ts';
import { completionBody, completionsPath } from './completion-request.ts';
import {
  badReply,
  keyless,
  notAnApi,
  silent,
  type Upstream,
  unanswered,
  upstreamFailure,
} from './upstream-failure.ts';
import type { UpstreamOptions } from './upstream-options.ts';

const connectMs = 10_000;
/** Turns the deadlines of the HTTP client off, because this class limits the silence itself. */
const noLimit = 2 ** 31 - 1;
/** The most bytes of a body that is read whole, and of one event. */
const mostBytes = 64 * 1024 * 1024;
/** The most bytes of the body of an error. */
const mostErrorBytes = 1024 * 1024;
/** The most bytes of a stream. The longest reply in chunks of one character is smaller. */
const mostStreamBytes = 4 * 1024 ** 3;
/**
 * A request on a kept connection that the server had closed fails within this time (ms). The server may have worked on a request that fails
 * later, and charges for the work.
 */
const staleMs = 1000;
/** Servers refuse a `response_format` in many words, and llama.cpp with the status 500. */
const aboutFormat = /response.?format|schema|grammar|structured/i;
/** How long a server may take from the end of the reply to the end of its stream, in ms. */
const graceMs = 5000;

export class UpstreamConnection {
  readonly #settings: ModeSettings;
  readonly #options: UpstreamOptions;
  readonly #client: HttpClient;
  readonly #origin: string;
  readonly #path: string;
  /** Stops the reading of the key; null before it has begun. */
  #reading: AbortController | null = null;
  #key: Promise<string> | null = null;
  /** False after the server refused the request for its token count. */
  #withUsage = true;
  /** The last schema that the server refused as `response_format`. It may take another. */
  #refusedSchema: string | null = null;

  constructor(settings: ModeSettings, options: UpstreamOptions, authorities: readonly string[] | null) {
    this.#settings = settings;
    this.#options = options;
    this.#origin = new URL(settings.base_url).origin;
    this.#path = completionsPath(settings.base_url);
    try {
      const { proxies } = options;
      const limits = {
        connectMs,
        responseMs: noLimit,
        silenceMs: noLimit,
        mostBytes: mostStreamBytes,
        detectsStale: true,
      };
      this.#client = new HttpClient({ origin: this.#origin, proxies, authorities, ...limits });
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      throw new ParleyError('ENGINE_FAILED', `No proxy can be used: ${cause.message}.`, {
        hint: 'Set the variable to a URL like http://proxy:3128, or unset it.',
        cause,
      });
    }
  }

  async *reply(context: EngineContext, signal: AbortSignal): AsyncGenerator<EngineEvent> {
    const upstream = { settings: this.#settings, key: await unlessAborted(this.#readKey(), signal) };
    const stop = new AbortController();
    const follow = () => stop.abort(signal.reason);
    signal.addEventListener('abort', follow, { once: true });
    const { timeout } = this.#options;
    const firstMs = (timeout ?? this.#settings.first_token_seconds) * 1000;
    const idleMs = (timeout ?? this.#settings.idle_seconds) * 1000;
    const first = new Deadline((ms) =>
      stop.abort(silent(upstream, `said nothing for ${ms / 1000} s`, 'start')),
    );
    const idle = new Deadline((ms) =>
      stop.abort(silent(upstream, `fell silent for ${ms / 1000} s in the middle of its reply`, 'reply')),
    );
    first.start(firstMs);
    try {
      const response = await this.#ask(upstream, context, stop.signal);
      const reading = new CompletionReading(upstream);
      for await (const events of this.#read(upstream, response, reading)) {
        idle.stop();
        for (const event of events) {
          first.stop();
          signal.throwIfAborted();
          yield event;
          if (event.type === 'finish') return;
        }
        if (!reading.hasBegun) continue;
        first.stop();
        idle.start(reading.hasEnded ? Math.min(graceMs, idleMs) : idleMs);
      }
    } catch (error) {
      signal.throwIfAborted();
      const reason = stop.signal.aborted ? stop.signal.reason : error;
      throw reason instanceof HttpFailure ? unanswered(upstream, reason) : reason;
    } finally {
      first.stop();
      idle.stop();
      signal.removeEventListener('abort', follow);
    }
  }

  close(): Promise<void> {
    this.#reading?.abort();
    return this.#client.close();
  }

  /** The key is read once, because a command for it may be slow or ask its user. It is read again after the server refused it. */
  async #readKey(): Promise<string | null> {
    const { key: reference } = this.#settings;
    if (reference === null) return null;
    this.#reading ??= new AbortController();
    this.#key ??= this.#options.readKey(reference, this.#settings.name, this.#reading.signal);
    try {
      return await this.#key;
    } catch (error) {
      this.#key = null;
      throw keyless(error);
    }
  }

  /** The response of a server that accepts the request. */
  async #ask(upstream: Upstream, context: EngineContext, signal: AbortSignal): Promise<HttpResponse> {
    for (let mayRepeat = true; ; ) {
      const withUsage = this.#withUsage;
      const { schema = null } = context;
      const withFormat = schema !== null && schema !== this.#refusedSchema;
      const body = completionBody(this.#settings, context, { withUsage, withFormat });
      const request = this.#request(upstream, body, signal);
      let response: HttpResponse;
      const askedAt = monotonicMs();
      try {
        const traced = { key: upstream.key ?? '', reference: this.#settings.key ?? '' };
        await this.#options.trace?.(request, this.#origin, traced);
        response = await this.#client.request(request);
      } catch (error) {
        // A request is repeated once, and only on a kept connection that the server had closed: no server can have answered or billed it.
        const isStale = error instanceof HttpFailure && error.stale && monotonicMs() - askedAt < staleMs;
        if (!mayRepeat || !isStale) throw error;
        mayRepeat = false;
        continue;
      }
      if (response.status < 300) return response;
      const text = await errorText(response);
      if (withUsage && [400, 422].includes(response.status) && text.includes('stream_options')) {
        this.#withUsage = false;
        continue;
      }
      if (withFormat && [400, 422, 500].includes(response.status) && aboutFormat.test(text)) {
        this.#refusedSchema = schema;
        continue;
      }
      if (response.status === 401) this.#key = null;
      const retryAfter = retryAfterOf((name) => response.header(name), this.#options.now());
      throw upstreamFailure(upstream, { status: response.status, retryAfter, text });
    }
  }

  #request({ key }: Upstream, body: string, signal: AbortSignal): HttpRequest {
    const headers = {
      ...(key !== null && { Authorization: `Bearer ${key}` }),
      Accept: 'text/event-stream, application/json;q=0.9',
      'Content-Type': 'application/json',
    };
    return { method: 'POST', path: this.#path, headers, body, signal };
  }

  /** The events of each chunk of the body. The last event is `finish`. */
  async *#read(
    upstream: Upstream,
    response: HttpResponse,
    reading: CompletionReading,
  ): AsyncGenerator<Iterable<EngineEvent>> {
    const type = response.header('content-type');
    if (!isEventStream(type)) {
      const text = await response.text(mostBytes);
      if (!/^application\/(.+\+)?json\s*(;|$)/i.test(type ?? '')) throw notAnApi(upstream, type);
      yield reading.whole(text);
      return;
    }
    try {
      for await (const events of readEventBatches(response.stream(), mostBytes, { closesLast: true })) {
        yield reading.take(events);
        if (reading.isDone) return;
      }
    } catch (error) {
      // After the end of the reply, a failure can only lose its token count.
      if (!reading.hasEnded) {
        yield reading.rest();
        throw error;
      }
    }
    if (!reading.hasEnded) {
      yield reading.rest();
      throw badReply(upstream, 'broken_off', 'broke off its reply');
    }
    yield reading.end();
  }
}

/** Empty for a body that is too long or not text; the status alone then describes the failure. */
async function errorText(response: HttpResponse): Promise<string> {
  try {
    return await response.text(mostErrorBytes);
  } catch (error) {
    if (error instanceof HttpFailure && ['too_large', 'unreadable'].includes(error.kind)) return '';
    throw error;
  }
}

/** The signal ends the wait, and not the work, because other replies may wait for the same work. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
