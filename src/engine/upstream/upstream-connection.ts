// The connection to the server of one mode. Each reply is one request. The key is read when it is first needed. The silence of the server is
// limited. The events of one chunk of the body are passed on together.
import { Deadline } from '../../http/deadline.ts';
import { isEventStream, readEventBatches } from '../../http/event-stream.ts';
import { HttpClient, type HttpRequest } from '../../http/http-client.ts';
import { HttpFailure } from '../../http/http-failure.ts';
import type { HttpResponse } from '../../http/http-response.ts';
import { retryAfterOf } from '../../http/retry-after.ts';
import { ParleyError } from '../../service/errors.ts';
import type { ModeSettings } from '../../service/mode-settings.ts';
import { beforeAbort } from '../../system/before-abort.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import type { EngineContext, EngineEvent } from '../reply-engine.ts';
import { CompletionReader } from './completion-reader.ts';
import { completionBody, completionsPath } from './completion-request.ts';
import {
  contentTypeFailure,
  keyFailure,
  replyFailure,
  requestFailure,
  silenceFailure,
  type Upstream,
  upstreamFailure,
} from './upstream-failure.ts';
import type { UpstreamOptions } from './upstream-options.ts';

const connectMs = 10_000;
/** Disables the deadlines of the HTTP client, because this class limits the silence itself. */
const noLimit = 2 ** 31 - 1;
/** The most bytes of a body that is not streamed, and of one event. */
const maxBytes = 64 * 1024 * 1024;
/** The most bytes of the body of an error. */
const maxErrorBytes = 1024 * 1024;
/** The most bytes of a stream. The longest reply in chunks of one character is smaller. */
const maxStreamBytes = 4 * 1024 ** 3;
/**
 * A request on a reused connection that the server had closed fails within this time (ms). If a request fails later, the server may have
 * worked on it, and may charge for the work.
 */
const staleMs = 1000;
/** Matches the errors with which servers refuse to stream. Gateways quote the error of a vendor, with its quotation marks escaped. */
const refusesStream = /param\W+stream\b|to stream this model|not support stream/i;
/** Matches the errors with which servers refuse a `response_format`. llama.cpp uses the status 500 for it. */
const aboutFormat = /response.?format|schema|grammar|structured/i;
const isPage = /^text\/html\s*(;|$)/i;
/** Matches the text of server-sent events. */
const beginsAsEvent = /^\s*(data|event|id|retry)?:/;
/** How long a server may take from the end of the reply to the end of its stream, in ms. */
const graceMs = 5000;

export class UpstreamConnection {
  readonly #settings: ModeSettings;
  readonly #options: UpstreamOptions;
  readonly #client: HttpClient;
  readonly #origin: string;
  readonly #path: string;
  /** Stops the reading of the key. Null before it has begun. */
  #keyReading: AbortController | null = null;
  #key: Promise<string> | null = null;
  /** False after the server refused to stream. OpenAI streams some models only to organizations that it has verified. */
  #streams = true;
  /** False after the server refused a request with `stream_options`. */
  #withUsage = true;
  /** The last schema that the server refused as `response_format`. It may accept another one. */
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
        maxBytes: maxStreamBytes,
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
    // The signal ends only the wait, because other replies may wait for the same key.
    const upstream = { settings: this.#settings, key: await beforeAbort(this.#readKey(), signal) };
    const stop = new AbortController();
    const follow = () => stop.abort(signal.reason);
    signal.addEventListener('abort', follow, { once: true });
    const { timeout } = this.#options;
    const firstMs = (timeout ?? this.#settings.first_token_seconds) * 1000;
    const idleMs = (timeout ?? this.#settings.idle_seconds) * 1000;
    const first = new Deadline((ms) =>
      stop.abort(silenceFailure(upstream, `sent nothing for ${ms / 1000} s`, 'start')),
    );
    const idle = new Deadline((ms) =>
      stop.abort(
        silenceFailure(upstream, `sent nothing for ${ms / 1000} s in the middle of its reply`, 'reply'),
      ),
    );
    first.start(firstMs);
    try {
      const response = await this.#ask(upstream, context, stop.signal);
      const reader = new CompletionReader(upstream);
      let isEnding = false;
      for await (const events of this.#read(upstream, response, reader)) {
        if (!isEnding) idle.stop();
        for (const event of events) {
          first.stop();
          signal.throwIfAborted();
          yield event;
          if (event.type === 'finish') return;
        }
        if (!reader.hasBegun || isEnding) continue;
        first.stop();
        isEnding = reader.hasEnded;
        idle.start(isEnding ? Math.min(graceMs, idleMs) : idleMs);
      }
    } catch (error) {
      signal.throwIfAborted();
      const reason = stop.signal.aborted ? stop.signal.reason : error;
      throw reason instanceof HttpFailure ? requestFailure(upstream, reason) : reason;
    } finally {
      first.stop();
      idle.stop();
      signal.removeEventListener('abort', follow);
    }
  }

  close(): Promise<void> {
    this.#keyReading?.abort();
    return this.#client.close();
  }

  /** The key is read once, because its command may be slow or ask the user. It is read again after the server refused it. */
  async #readKey(): Promise<string | null> {
    const { key: reference } = this.#settings;
    if (reference === null) return null;
    this.#keyReading ??= new AbortController();
    this.#key ??= this.#options.readKey(reference, this.#settings.name, this.#keyReading.signal);
    try {
      return await this.#key;
    } catch (error) {
      this.#key = null;
      throw keyFailure(error);
    }
  }

  /** Sends the request, without a feature that the server refuses, and returns the response. Throws if the server refuses the request itself. */
  async #ask(upstream: Upstream, context: EngineContext, signal: AbortSignal): Promise<HttpResponse> {
    for (let mayRepeat = true; ; ) {
      const streams = this.#streams;
      const withUsage = this.#withUsage;
      const { schema = null } = context;
      const withFormat = schema !== null && schema !== this.#refusedSchema;
      const body = completionBody(this.#settings, context, { streams, withUsage, withFormat });
      const request = this.#request(upstream, body, signal);
      let response: HttpResponse;
      const sentAt = monotonicMs();
      try {
        const tracedKey = { key: upstream.key ?? '', reference: this.#settings.key ?? '' };
        await this.#options.trace?.(request, this.#origin, tracedKey);
        response = await this.#client.request(request);
      } catch (error) {
        // A request is repeated once, and only if the server had already closed the reused connection. The server has not worked on it.
        const isStale = error instanceof HttpFailure && error.isStale && monotonicMs() - sentAt < staleMs;
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
      if (streams && [400, 422].includes(response.status) && refusesStream.test(text)) {
        this.#streams = false;
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
    reader: CompletionReader,
  ): AsyncGenerator<Iterable<EngineEvent>> {
    const type = response.header('content-type');
    // Some servers stream with the type of JSON, with another type or without one.
    const isJson = /^application\/(.+\+)?json\s*(;|$)/i.test(type ?? '');
    const text = isJson || isPage.test(type ?? '') ? await response.text(maxBytes) : null;
    if (text !== null && !beginsAsEvent.test(text)) {
      if (!isJson) throw contentTypeFailure(upstream, type);
      yield reader.whole(text);
      return;
    }
    const bytes = text === null ? response.stream() : [Buffer.from(text)];
    try {
      for await (const events of readEventBatches(bytes, maxBytes, { isLenient: true })) {
        yield reader.take(events);
        if (reader.isDone) return;
      }
    } catch (error) {
      // After the end of the reply, a failure can only lose its token count.
      if (!reader.hasEnded) {
        yield reader.rest();
        throw error;
      }
    }
    if (!reader.hasEnded) {
      yield reader.rest();
      if (!reader.hasRead && !isEventStream(type)) throw contentTypeFailure(upstream, type);
      throw replyFailure(upstream, 'broken_off', 'broke off its reply');
    }
    yield reader.end();
  }
}

/** Empty for a body that cannot be read. The status alone then describes the failure. */
async function errorText(response: HttpResponse): Promise<string> {
  try {
    return await response.text(maxErrorBytes);
  } catch (error) {
    if (error instanceof HttpFailure) return '';
    throw error;
  }
}
