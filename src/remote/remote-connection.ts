// Requests of the API to one server: an operation becomes one request, which may be sent several times. The caller reads the body.

import { HttpClient, type HttpRequest } from '../http/http-client.ts';
import { HttpFailure } from '../http/http-failure.ts';
import type { HttpResponse } from '../http/http-response.ts';
import { retryAfterOf } from '../http/retry-after.ts';
import type { Call } from '../service/call.ts';
import { ParleyError } from '../service/errors.ts';
import type { Extension } from '../service/extensions.ts';
import { bodyBytes } from '../service/limits.ts';
import { quoted } from '../service/quoted.ts';
import { asksToRetry } from '../wire/error-status.ts';
import type { ReceivedResponse } from '../wire/failure-body.ts';
import {
  eventStreamType,
  exportPurpose,
  extensionsHeader,
  idempotencyHeader,
  purposeHeader,
} from '../wire/headers.ts';
import { operationPath, type Query } from '../wire/operation-path.ts';
import { type Operation, routes } from '../wire/routes.ts';
import { readAuthorities } from './authorities.ts';
import { curlCommand } from './curl-command.ts';
import { failureOf } from './failure.ts';
import { redactFailure } from './failure-redaction.ts';
import type { RemoteOptions } from './remote-options.ts';
import { RequestRetries } from './request-retries.ts';

/** The most bytes of a body that is read whole. */
const mostBytes = 64 * 1024 * 1024;
/** The most bytes of a stream: room for the longest reply in chunks of one character. */
const mostStreamBytes = 1024 ** 3;
const connectMs = 10_000;
const responseMs = 300_000;
const silenceMs = 60_000;

export interface OperationRequest {
  readonly sessionId?: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** True: asks for a stream of events if the server may have one. */
  readonly streams?: boolean;
}

/** One request. It is the same each time that it is sent. */
export interface PreparedRequest {
  readonly operation: Operation;
  readonly request: HttpRequest;
  readonly apiKey: string;
  /** True: a response of 429 or 503 leads to a wait here. */
  readonly waits: boolean;
  readonly notice: Call['notice'];
}

/** The requests of one backend. */
export class RemoteConnection {
  readonly #options: RemoteOptions;
  readonly #client: HttpClient;
  readonly #origin: string;
  readonly #prefix: string;
  #extensions: ReadonlySet<string> | null;
  #hasAnswered = false;

  static async open(options: RemoteOptions): Promise<RemoteConnection> {
    const { authorityFile, env, signal } = options;
    return new RemoteConnection(options, await readAuthorities(authorityFile, env, signal));
  }

  private constructor(options: RemoteOptions, authorities: readonly string[] | null) {
    const { origin, pathname } = new URL(options.url);
    this.#options = options;
    this.#origin = origin;
    this.#prefix = pathname.replace(/\/+$/, '');
    this.#extensions = options.extensions === null ? null : new Set(options.extensions);
    const limit = options.timeout === null ? null : options.timeout * 1000;
    try {
      this.#client = new HttpClient({
        origin,
        proxies: options.env,
        authorities,
        connectMs,
        responseMs: limit ?? responseMs,
        silenceMs: limit ?? silenceMs,
        mostBytes: mostStreamBytes,
        tellsStale: false,
      });
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      throw new ParleyError('CONFIG', `No proxy can be used: ${cause.message}.`, {
        hint: 'Set the variable to a URL like http://proxy:3128, or unset it.',
        cause,
      });
    }
  }

  /** The extensions that the server offers; null while they are unknown. */
  get extensions(): readonly string[] | null {
    return this.#extensions === null ? null : [...this.#extensions];
  }

  /** True for an extension that the server offers, false for one that it lacks; null while its extensions are unknown. */
  offers(extension: Extension): boolean | null {
    return this.#extensions?.has(extension) ?? null;
  }

  /** True once a response came: the extensions are then those that the server offers now. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  prepare(call: Call, operation: Operation, input: OperationRequest): PreparedRequest {
    const { method } = routes[operation];
    const sessionId = input.sessionId ?? null;
    const path = operationPath(operation, { sessionId, query: input.query ?? {} });
    if (path === null) {
      throw new ParleyError('SESSION_NOT_FOUND', `There is no session ${quoted(sessionId ?? '')}.`);
    }
    const headers = {
      Authorization: `Bearer ${call.apiKey}`,
      Accept: this.#accepted(input.streams ?? false),
      ...(method === 'POST' && {
        [idempotencyHeader]: call.idempotencyKey ?? this.#options.newIdempotencyKey(),
      }),
      ...(call.isExport && { [purposeHeader]: exportPurpose }),
      ...(input.body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const body = input.body === undefined ? null : JSON.stringify(input.body);
    if (operation === 'importSession') requireShort(body ?? '');
    const request = { method, path: this.#prefix + path, headers, body, signal: call.signal };
    const { apiKey, pacesItself, notice } = call;
    return { operation, request, apiKey, waits: !pacesItself, notice };
  }

  /** Decides when this request is sent again. */
  resending({ request, notice }: PreparedRequest): RequestRetries {
    const { random, wait } = this.#options;
    const honoursKeys = () => this.offers('idempotency') === true;
    return new RequestRetries({
      method: request.method,
      honoursKeys,
      random,
      wait,
      signal: request.signal,
      notice,
    });
  }

  /** Sends the request once. Resolves when the head of the response has come. */
  async send({ request, apiKey }: PreparedRequest): Promise<HttpResponse> {
    const { trace, now, authorityFile } = this.#options;
    if (trace !== null) await trace(curlCommand(request, this.#origin, apiKey, authorityFile));
    const start = now();
    try {
      const response = await this.#client.request(request);
      this.#hasAnswered = true;
      const offered = response.header(extensionsHeader);
      if (offered !== null) this.#extensions = new Set(offered.split(',').map((name) => name.trim()));
      if (trace !== null) await trace(`# status ${response.status} after ${now() - start} ms`);
      return response;
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      const failure = redactFailure(error, apiKey);
      await trace?.(`# ${failure.message}, after ${now() - start} ms`);
      throw failure;
    }
  }

  /** Reads the whole body of a response. */
  async received({ request }: PreparedRequest, response: HttpResponse): Promise<ReceivedResponse> {
    return {
      status: response.status,
      retryAfter: retryAfterOf((name) => response.header(name), this.#options.now()),
      text: await response.text(mostBytes),
      asked: `${request.method} ${this.#origin}${request.path}`,
    };
  }

  /** Returns the whole response. The request is sent as often as necessary. */
  async ask(
    prepared: PreparedRequest,
  ): Promise<{ readonly received: ReceivedResponse; readonly mayHaveActed: boolean }> {
    const resending = this.resending(prepared);
    for (;;) {
      try {
        const received = await this.received(prepared, await this.send(prepared));
        if (prepared.waits && asksToRetry(received.status) && (await resending.again(received))) continue;
        return { received, mayHaveActed: resending.mayHaveActed };
      } catch (error) {
        if (!(error instanceof HttpFailure)) throw error;
        if (!(await resending.again(error))) throw failureOf(error, prepared.request.method);
      }
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** A stream is asked for unless the server is known to have none. A server without streams answers with JSON. */
  #accepted(streams: boolean): string {
    return streams && this.offers('stream') !== false
      ? `${eventStreamType}, application/json;q=0.9`
      : 'application/json';
  }
}

/** Refuses a body that is too long for a Parley server: a session to import is sent in one request. */
function requireShort(body: string): void {
  const bytes = Buffer.byteLength(body);
  if (bytes <= bodyBytes) return;
  throw new ParleyError(
    'PAYLOAD_TOO_LARGE',
    `The session is ${bytes} bytes long as a request; a server takes ${bodyBytes} (8 MiB) at most.`,
    {
      hint: 'Nothing was sent.',
      remedy: { kind: 'import_at_store' },
      details: [{ field: 'body', problem: `has ${bytes} bytes` }],
    },
  );
}
