// The connections to a server on this machine over plain HTTP, by Node's own client: undici, which does all else, takes longer to load
// than such a request takes. It tells a handler of undici's dispatch what undici would tell it.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Dispatcher } from 'undici';
import type { HttpHeaders } from './http-exchange.ts';
import type { Traffic } from './traffic.ts';

/** What an exchange needs of a dispatcher. */
export interface Connections {
  dispatch(options: DispatchOptions, handler: Dispatcher.DispatchHandler): unknown;
  destroy(): Promise<void>;
}

export interface DispatchOptions {
  readonly origin: string;
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

/** As those of all connections. */
export interface PlainOptions {
  readonly connectMs: number;
  readonly traffic: Traffic | null;
}

/** For `http:` to a loopback address alone. */
export async function plainConnections(origin: string, options: PlainOptions): Promise<Connections> {
  // Late: it takes 3 ms, and a mode of this machine has its file loaded by being beside one that asks a server.
  const { Agent, request } = await import('node:http');
  const agent = new Agent({ keepAlive: true });
  const { host: name, hostname, port } = new URL(origin);
  const place = { host: hostname.replace(/^\[|\]$/g, ''), port: port || 80 };
  return {
    dispatch({ path, method, headers, body }, handler) {
      const sent = request({
        ...{ agent, method, path, insecureHTTPParser: false, ...place },
        headers: {
          ...headers,
          Host: name,
          ...(body !== null && { 'Content-Length': Buffer.byteLength(body) }),
        },
      });
      new PlainExchange(sent, handler, options).send(body);
    },
    async destroy() {
      agent.destroy();
    },
  };
}

class PlainExchange implements Dispatcher.DispatchController {
  readonly #request: ClientRequest;
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #connectMs: number;
  #connecting: NodeJS.Timeout | undefined;
  readonly #traffic: Traffic | null;
  #answer: IncomingMessage | null = null;
  #reason: Error | null = null;
  #isOver = false;

  constructor(
    sent: ClientRequest,
    handler: Dispatcher.DispatchHandler,
    { connectMs, traffic }: PlainOptions,
  ) {
    this.#request = sent;
    this.#traffic = traffic;
    this.#handler = handler;
    this.#connectMs = connectMs;
  }

  get aborted(): boolean {
    return this.#reason !== null;
  }

  get reason(): Error | null {
    return this.#reason;
  }

  get paused(): boolean {
    return this.#answer?.isPaused() ?? false;
  }

  get rawHeaders(): null {
    return null;
  }

  get rawTrailers(): null {
    return null;
  }

  send(body: string | null): void {
    const start = () => {
      clearTimeout(this.#connecting);
      this.#handler.onRequestStart?.(this, {});
    };
    this.#request
      .on('socket', (socket) => {
        if (!socket.connecting) return start();
        this.#traffic?.add(socket);
        socket.once('connect', start);
        this.#connecting = setTimeout(() => {
          this.abort(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' }));
        }, this.#connectMs);
      })
      .on('response', (answer) => this.#receive(answer))
      .on('error', (error) => this.#fail(error))
      // Where no answer came and nothing failed either (a change of protocol that nobody asked for), this is all that is told.
      .on('close', () => {
        if (this.#answer === null) this.#fail(new Error('closed without an answer'));
        clearTimeout(this.#connecting);
      })
      .end(body);
  }

  pause(): void {
    this.#answer?.pause();
  }

  resume(): void {
    this.#answer?.resume();
  }

  abort(reason: Error): void {
    this.#reason ??= reason;
    this.#request.destroy(reason);
  }

  #receive(answer: IncomingMessage): void {
    this.#answer = answer;
    answer
      .on('data', (chunk: Buffer) => this.#handler.onResponseData?.(this, chunk))
      .on('end', () => {
        if (!answer.complete) return;
        this.#isOver = true;
        this.#handler.onResponseEnd?.(this, {});
      })
      .on('error', (error) => this.#fail(error))
      .on('close', () => {
        if (!answer.complete) this.#fail(new Error('the answer broke off'));
      });
    const headers = answer.headers as HttpHeaders as Record<string, string | string[]>;
    this.#handler.onResponseStart?.(this, answer.statusCode ?? 0, headers, answer.statusMessage);
  }

  #fail(error: Error): void {
    clearTimeout(this.#connecting);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onResponseError?.(this, this.#reason ?? error);
  }
}
