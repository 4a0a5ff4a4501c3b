// Sends HTTP requests to one origin only. A request names only a path, and redirects are not followed, so the key and the message cannot
// reach another server. The caller decides whether to retry a request.
import type { Socket } from 'node:net';
import { type ConnectionOptions, openConnections } from './connections.ts';
import { HttpExchange, type ResponseHead } from './http-exchange.ts';
import { type Destination, HttpFailure } from './http-failure.ts';
import { HttpResponse } from './http-response.ts';
import type { Connections, DispatchOptions } from './plain-connections.ts';
import { type ProxyVariables, proxyFor } from './proxy-choice.ts';
import { Watchdog, type WatchdogOptions } from './watchdog.ts';

export interface HttpClientOptions
  extends Pick<ConnectionOptions, 'authorities' | 'connectMs'>,
    Pick<WatchdogOptions, 'responseMs' | 'silenceMs'> {
  readonly origin: string;
  readonly proxies: ProxyVariables;
  /** Limits the bytes of one response: the received bytes including all framing, and the decompressed body. */
  readonly maxBytes: number;
  /** True: failures of stale connections are marked `isStale`. Each request then inspects all connections. */
  readonly detectsStale: boolean;
}

export interface HttpRequest {
  readonly method: DispatchOptions['method'];
  /** Including the query. The path is sent unchanged. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal;
}

export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #proxy: string | null;
  readonly #destination: Destination;
  readonly #watchdog: Watchdog;
  /** Null if `isStale` is not needed, and for connections through a proxy, which are not visible here. */
  readonly #traffic: Traffic | null;
  #opening: Promise<Connections> | null = null;

  /** Throws a `TypeError` if the variable of the proxy has an invalid value. */
  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#proxy = proxyFor(options.origin, options.proxies);
    this.#destination = {
      host: new URL(options.origin).host,
      proxy: this.#proxy === null ? null : new URL(this.#proxy).host,
    };
    this.#traffic = options.detectsStale && this.#proxy === null ? new Traffic() : null;
    this.#watchdog = new Watchdog({ host: this.#destination.host, ...options });
  }

  /** Resolves when the head of the response has arrived. Rejects with an `HttpFailure`, or with the signal's reason. */
  async request(request: HttpRequest): Promise<HttpResponse> {
    const { origin } = this.#options;
    const { method, path, headers, body, signal } = request;
    const connections = await this.#open();
    signal.throwIfAborted();
    const exchange = new HttpExchange(this.#destination, this.#options.maxBytes);
    const watched = this.#watchdog.begin(exchange, signal);
    const before = this.#traffic?.count;
    try {
      // The headers are a copy, because undici's ProxyAgent changes the object that it gets.
      connections.dispatch({ origin, path, method, headers: { ...headers }, body }, exchange);
      const head = await exchange.head;
      refuseRedirect(head, origin + path);
      refuseProxyLogin(head, this.#destination);
      return new HttpResponse(head, watched, this.#watchdog, this.#options.maxBytes);
    } catch (error) {
      this.#watchdog.release(watched);
      const isStale = this.#traffic !== null && this.#traffic.count === before;
      if (!(error instanceof HttpFailure && error.kind === 'broken' && isStale)) throw error;
      throw new HttpFailure(error.kind, error.message, {
        isSent: error.isSent,
        isStale: true,
        cause: error.cause,
      });
    }
  }

  async close(): Promise<void> {
    await (await this.#opening)?.destroy();
    this.#watchdog.close();
  }

  #open(): Promise<Connections> {
    const { origin, authorities, connectMs, maxBytes } = this.#options;
    this.#opening ??= openConnections(origin, {
      proxy: this.#proxy,
      authorities,
      connectMs,
      maxBytes,
      onOpened: this.#traffic === null ? null : (socket) => this.#traffic?.add(socket),
    });
    return this.#opening;
  }
}

/** A proxy that forwards requests has not forwarded one for which it wants a password. */
function refuseProxyLogin({ status, body }: ResponseHead, { host, proxy }: Destination): void {
  if (status !== 407 || proxy === null) return;
  body.discard();
  throw new HttpFailure('proxy', `the proxy ${proxy} did not connect to ${host} (407)`, { isSent: false });
}

/** A 3xx status that is not a redirect, such as 304, is not a valid response to any request of this client. */
function refuseRedirect({ status, headers, body }: ResponseHead, from: string): void {
  if (status < 300 || status > 399) return;
  body.discard();
  const { location } = headers;
  const { origin, pathname } = new URL(from);
  const isRedirect = status !== 304 && typeof location === 'string' && URL.canParse(location, from);
  if (!isRedirect) {
    throw new HttpFailure(
      'unreadable',
      `the server responded to ${origin}${pathname} with only the status ${status}`,
    );
  }
  const { protocol, host, pathname: path } = new URL(location, from);
  const to = `${protocol}//${host}${path}`;
  throw new HttpFailure('redirect', `the server redirects (${status}) from ${origin}${pathname} to ${to}`);
}

/**
 * Counts the connections and bytes of one client. If the count has not changed when a request fails, the request was sent on a kept connection
 * and no byte of a response has arrived.
 */
class Traffic {
  readonly #open = new Set<Socket>();
  #sum = 0;

  /** Counts a new connection. */
  add(socket: Socket): void {
    this.#sum += 1;
    this.#open.add(socket);
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#sum += socket.bytesRead;
    });
  }

  /** The sum of opened connections and received bytes. It changes if either does. */
  get count(): number {
    let sum = this.#sum;
    for (const { bytesRead } of this.#open) sum += bytesRead;
    return sum;
  }
}
