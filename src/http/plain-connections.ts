// The connections to a server on this machine over plain HTTP, by Node's sockets alone: its HTTP client, and undici even more, take
// longer to load than such a request takes. They tell a handler of undici's dispatch what undici would tell it.
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { AnswerReader } from './answer-reader.ts';
import { KeptLines } from './kept-lines.ts';
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

/** As Node reads a stream. */
const bytesAtATime = 64 * 1024;

/** A connection, and what goes on over it; null while it is kept for another request. */
interface PlainLine {
  readonly socket: Socket;
  exchange: PlainExchange | null;
}

/** For `http:` to a loopback address alone. */
export async function plainConnections(origin: string, options: PlainOptions): Promise<Connections> {
  // Late: a mode of this machine has its file loaded by being beside one that asks a server.
  const { connect } = await import('node:net');
  const { host: name, hostname, port } = new URL(origin);
  const place = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) };
  const lines = new Set<PlainLine>();
  const kept = new KeptLines<PlainLine>();
  const open = (): PlainLine => {
    // Without the events of a stream for each piece, which take as long to begin as the connection itself.
    const socket = connect({
      ...place,
      onread: {
        buffer: Buffer.allocUnsafe(bytesAtATime),
        callback(count, buffer) {
          // Nobody has asked for what comes over one that is kept.
          if (line.exchange === null) socket.destroy();
          else line.exchange.take(Buffer.from(buffer.subarray(0, count)));
          return true;
        },
      },
    });
    const line: PlainLine = { socket, exchange: null };
    lines.add(line);
    options.traffic?.add(socket);
    socket
      .on('end', () => line.exchange?.finish())
      .on('error', (error) => line.exchange?.fail(error))
      .on('close', () => {
        lines.delete(line);
        line.exchange?.fail(new Error('the connection was closed'));
      });
    return line;
  };
  return {
    dispatch(request, handler) {
      const bytes = requestBytes(name, request);
      const line = kept.take();
      new PlainExchange(line ?? open(), handler, {
        connectMs: options.connectMs,
        done: (own) => kept.put(own),
        lost: () => line !== undefined && kept.lose(),
      }).send(bytes);
    },
    async destroy() {
      for (const { socket, exchange } of lines) if (exchange !== null) socket.destroy();
      // Those that are kept, a moment later: a process that ends now is spared it, a millisecond.
      setImmediate(() => {
        for (const { socket } of lines) socket.destroy();
      }).unref();
    },
  };
}

/** Throws a `TypeError` for what would be read as more than it is. */
function requestBytes(host: string, { method, path, headers, body }: DispatchOptions): Buffer {
  const content = Buffer.from(body ?? '');
  const fields = Object.entries({ Host: host, Connection: 'keep-alive', ...headers });
  if (body !== null || method === 'POST' || method === 'PATCH')
    fields.push(['Content-Length', `${content.length}`]);
  if (!/^[!-~]+$/.test(path)) throw new TypeError('The path of a request holds what no path can.');
  for (const [name, value] of fields) {
    if (!/^[\w-]+$/.test(name) || !/^[\t -~\u0080-\u00ff]*$/.test(value)) {
      throw new TypeError(`The header ${JSON.stringify(name)} holds what no header can.`);
    }
  }
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n`, 'latin1'), content]);
}

interface ExchangeOptions {
  readonly connectMs: number;
  /** Its connection may serve another. */
  readonly done: (line: PlainLine) => void;
  /** Its connection was closed without a byte of an answer. */
  readonly lost: () => void;
}

class PlainExchange implements Dispatcher.DispatchController {
  readonly #line: PlainLine;
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #options: ExchangeOptions;
  readonly #answer: AnswerReader;
  #connecting: NodeJS.Timeout | undefined;
  #reason: Error | null = null;
  #isBegun = false;
  #isOver = false;

  constructor(line: PlainLine, handler: Dispatcher.DispatchHandler, options: ExchangeOptions) {
    this.#line = line;
    this.#handler = handler;
    this.#options = options;
    this.#answer = new AnswerReader({
      head: (status, headers) => {
        if (status === 101) throw new Error('it changed to a protocol that nobody asked for');
        handler.onResponseStart?.(this, status, headers);
      },
      data: (piece) => handler.onResponseData?.(this, piece as Buffer),
    });
    line.exchange = this;
  }

  get aborted(): boolean {
    return this.#reason !== null;
  }

  get reason(): Error | null {
    return this.#reason;
  }

  get paused(): boolean {
    return !this.#isOver && this.#line.socket.isPaused();
  }

  get rawHeaders(): null {
    return null;
  }

  get rawTrailers(): null {
    return null;
  }

  send(bytes: Buffer): void {
    const { socket } = this.#line;
    const start = () => {
      clearTimeout(this.#connecting);
      this.#handler.onRequestStart?.(this, {});
      if (this.#reason === null) socket.write(bytes);
    };
    if (!socket.connecting) {
      socket.ref();
      start();
      return;
    }
    socket.once('connect', start);
    this.#connecting = setTimeout(() => {
      this.abort(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' }));
    }, this.#options.connectMs);
  }

  take(bytes: Buffer): void {
    this.#isBegun = true;
    try {
      const taken = this.#answer.take(bytes);
      if (this.#answer.isComplete) this.#complete(taken === bytes.length);
    } catch (error) {
      this.abort(error as Error);
    }
  }

  /** The server has ended the connection. */
  finish(): void {
    this.#answer.finish();
    if (this.#answer.isComplete) this.#complete(false);
    else this.fail(new Error('the answer broke off'));
  }

  fail(error: Error): void {
    clearTimeout(this.#connecting);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#line.exchange = null;
    this.#line.socket.destroy();
    if (!this.#isBegun && this.#reason === null) this.#options.lost();
    this.#handler.onResponseError?.(this, this.#reason ?? error);
  }

  pause(): void {
    if (!this.#isOver) this.#line.socket.pause();
  }

  resume(): void {
    if (!this.#isOver) this.#line.socket.resume();
  }

  abort(reason: Error): void {
    if (this.#isOver) return;
    this.#reason ??= reason;
    this.#line.socket.destroy();
  }

  /** The connection is kept only where both sides are done with this request, and nothing else has come. */
  #complete(isAll: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { socket } = this.#line;
    this.#line.exchange = null;
    if (isAll && this.#reason === null && this.#answer.isPersistent && socket.writableLength === 0) {
      socket.resume();
      socket.unref();
      this.#options.done(this.#line);
    } else {
      socket.destroy();
    }
    this.#handler.onResponseEnd?.(this, {});
  }
}
