// Carries out the operations of the API at one server. Each operation is one request, which may be sent several times.
import { HttpClient, type HttpRequest } from '../http/http-client.ts';
import { HttpFailure } from '../http/http-failure.ts';
import type { HttpResponse } from '../http/http-response.ts';
import { retryAfterOf } from '../http/retry-after.ts';
import type { Call } from '../service/call.ts';
import { ParleyError } from '../service/errors.ts';
import type { Extension } from '../service/extensions.ts';
import { bodyBytes } from '../service/limits.ts';
import { quoted } from '../service/quoted.ts';
import type { Result } from '../service/result.ts';
import { monotonicMs } from '../system/monotonic-clock.ts';
import { asksToRetry } from '../wire/error-status.ts';
import { badResponse, type ReceivedResponse } from '../wire/failure-body.ts';
import {
  eventStreamType,
  exportPurpose,
  extensionsHeader,
  idempotencyHeader,
  purposeHeader,
} from '../wire/headers.ts';
import { operationPath, type Query } from '../wire/operation-path.ts';
import { type Operation, routes } from '../wire/routes.ts';
import { successBody } from '../wire/success-body.ts';
import { curlCommand } from './curl-command.ts';
import { failureOf } from './failure.ts';
import { redactError, redactFailure } from './failure-redaction.ts';
import type { RemoteOptions } from './remote-options.ts';
import { RequestRetries } from './request-retries.ts';

/** The most bytes of a body that is read whole. */
const maxBytes = 64 * 1024 * 1024;
/** The most bytes of a stream: room for the longest reply in chunks of one character. */
const maxStreamBytes = 1024 ** 3;
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

/** One request. It is the same in each attempt. */
export interface PreparedRequest {
  readonly operation: Operation;
  readonly request: HttpRequest;
  readonly apiKey: string;
  /** True: a response with status 429 or 503 is followed by a wait and another attempt. */
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
  /** True after the first response: the extensions are then those that the server offers now. */
  #hasResponded = false;
  /** The request for the extensions, while it runs. */
  #extensionsRequest: Promise<void> | null = null;

  static async open(options: RemoteOptions): Promise<RemoteConnection> {
    return new RemoteConnection(options, await options.readAuthorities(options.authorityFile));
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
        maxBytes: maxStreamBytes,
        detectsStale: false,
      });
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      throw new ParleyError('CONFIG', `The proxy cannot be used: ${cause.message}.`, {
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

  /**
   * True if the server offers the extension. The server is asked once if it has not responded yet, because the extensions that an earlier
   * process stored may be outdated.
   */
  async hasExtension(call: Call, extension: Extension): Promise<boolean> {
    if (this.offers(extension) !== true && !this.#hasResponded) {
      this.#extensionsRequest ??= this.#requestExtensions(call);
      await this.#extensionsRequest;
    }
    return this.offers(extension) === true;
  }

  async #requestExtensions(call: Call): Promise<void> {
    try {
      await this.result({ ...call, idempotencyKey: null }, 'models', {}, (body) => body);
    } catch (error) {
      ignoreUnsupported(error);
    } finally {
      this.#extensionsRequest = null;
    }
  }

  /**
   * Rejects with `UNSUPPORTED` if the server lacks the extension, before a request that needs it is sent. A server without it would refuse the
   * request, or silently ignore a part of it. `limitation` ends the sentence "This server …".
   */
  async requireExtension(call: Call, extension: Extension, limitation: string): Promise<void> {
    if (await this.hasExtension(call, extension)) return;
    throw new ParleyError('UNSUPPORTED', `This server ${limitation}.`, {
      hint: `Nothing was sent. A server that supports it lists \`${extension}\` in its header Parley-Extensions.`,
    });
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
      Accept: this.#acceptHeader(input.streams ?? false),
      ...(method === 'POST' && {
        [idempotencyHeader]: call.idempotencyKey ?? this.#options.newIdempotencyKey(),
      }),
      ...(call.isExport && { [purposeHeader]: exportPurpose }),
      ...(input.body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const body = input.body === undefined ? null : JSON.stringify(input.body);
    if (operation === 'importSession') checkImportLength(body ?? '');
    const request = { method, path: this.#prefix + path, headers, body, signal: call.signal };
    const { apiKey, pacesItself, notice } = call;
    return { operation, request, apiKey, waits: !pacesItself, notice };
  }

  /** Decides when this request is sent again. */
  retries({ request, notice }: PreparedRequest): RequestRetries {
    const { random, wait } = this.#options;
    const { method, signal } = request;
    const honoursKeys = () => this.offers('idempotency') === true;
    return new RequestRetries({ method, honoursKeys, random, wait, signal, notice });
  }

  /** Sends the request once. Resolves when the head of the response has arrived. */
  async send({ request, apiKey }: PreparedRequest): Promise<HttpResponse> {
    const { trace, authorityFile } = this.#options;
    if (trace !== null) await trace(curlCommand(request, this.#origin, apiKey, authorityFile));
    const start = monotonicMs();
    const passed = () => `${Math.round(monotonicMs() - start)} ms`;
    try {
      const response = await this.#client.request(request);
      this.#hasResponded = true;
      const extensions = response.header(extensionsHeader);
      if (extensions !== null) this.#extensions = new Set(extensions.split(',').map((name) => name.trim()));
      if (trace !== null) await trace(`# status ${response.status} after ${passed()}`);
      return response;
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      const failure = redactFailure(error, apiKey);
      await trace?.(`# ${failure.message}, after ${passed()}`);
      throw failure;
    }
  }

  /** Reads the whole body of a response. */
  async readResponse({ request }: PreparedRequest, response: HttpResponse): Promise<ReceivedResponse> {
    return {
      status: response.status,
      retryAfter: retryAfterOf((name) => response.header(name), this.#options.now()),
      text: await response.text(maxBytes),
      request: `${request.method} ${this.#origin}${request.path}`,
    };
  }

  /** Sends the request, with retries, and reads the whole response. */
  async sendWithRetries(
    prepared: PreparedRequest,
  ): Promise<{ readonly received: ReceivedResponse; readonly mayHaveActed: boolean }> {
    const retries = this.retries(prepared);
    for (;;) {
      try {
        const received = await this.readResponse(prepared, await this.send(prepared));
        if (prepared.waits && asksToRetry(received.status) && (await retries.next(received))) continue;
        return { received, mayHaveActed: retries.mayHaveActed };
      } catch (error) {
        if (!(error instanceof HttpFailure)) throw error;
        if (!(await retries.next(error))) throw failureOf(error, prepared.request.method);
      }
    }
  }

  /**
   * Carries out one operation. `read` returns null for a body without the result of the operation. The call then rejects with
   * `BAD_RESPONSE`.
   */
  async result<T>(
    call: Call,
    operation: Operation,
    input: OperationRequest,
    read: (body: unknown) => T | null,
  ): Promise<Result<T>> {
    try {
      const { received } = await this.sendWithRetries(this.prepare(call, operation, input));
      const body = successBody(operation, received);
      const data = read(body);
      if (data === null) throw badResponse(received, body, 'the body does not contain the requested data');
      return { data, body };
    } catch (error) {
      throw redactError(error, call.apiKey);
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** The header `Accept`. A stream is requested unless the server is known not to stream. A server without streams sends JSON. */
  #acceptHeader(streams: boolean): string {
    return streams && this.offers('stream') !== false
      ? `${eventStreamType}, application/json;q=0.9`
      : 'application/json';
  }
}

/** Ignores the failure of a server that does not list its models. */
function ignoreUnsupported(error: unknown): void {
  if (!(error instanceof ParleyError) || error.kind === 'key' || error.kind === 'transient') throw error;
}

/** Refuses a session that is too long for the request of an import. */
function checkImportLength(body: string): void {
  const bytes = Buffer.byteLength(body);
  if (bytes <= bodyBytes) return;
  const message = `The session is ${bytes} bytes long as a request; a server accepts at most ${bodyBytes} (8 MiB).`;
  throw new ParleyError('PAYLOAD_TOO_LARGE', message, {
    hint: 'Nothing was sent.',
    remedy: { kind: 'import_at_store' },
    details: [{ field: 'body', problem: `has ${bytes} bytes` }],
  });
}
