// Connections to a server on this machine over plain HTTP, through Node's sockets alone. Loading Node's HTTP client, and undici even more,
// takes longer than such a request. The decision is in docs/decisions/2026-11-22-plain-sockets-to-this-machine.md.
import type { connect, Socket } from 'node:net';
import type { HttpExchange } from './http-exchange.ts';
import { tooLarge } from './http-failure.ts';
import { lookupLocalName } from './loopback.ts';
import type { BodySource } from './response-body.ts';
import { ResponseParser } from './response-parser.ts';

/** The part of undici's dispatcher that an exchange needs. */
export interface Connections {
  dispatch(options: DispatchOptions, handler: HttpExchange): unknown;
  destroy(): Promise<void>;
}

export interface DispatchOptions {
  readonly origin: string;
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

/** The options of all kinds of connections. */
export interface PlainOptions {
  readonly connectMs: number;
  /** Limits the bytes of one response, including its heads and the framing of its chunks. */
  readonly maxBytes: number;
  /** Called with each new connection, except connections through a proxy; null if it is not needed. */
  readonly onOpened: ((socket: Socket) => void) | null;
}

/** The size of a read, as in Node's streams. */
const readBytes = 64 * 1024;

/** A connection and the exchange that uses it; null while the connection is kept for a later request. */
interface PlainConnection {
  readonly socket: Socket;
  exchange: PlainExchange | null;
}

/** Connections for `http:` to a loopback address. */
export async function plainConnections(origin: string, options: PlainOptions): Promise<Connections> {
  // `node:net` is loaded lazily: the build bundles this file with others, so it is loaded even if no such connection is made.
  const { connect } = await import('node:net');
  return new PlainConnections(new URL(origin), options, connect);
}

class PlainConnections implements Connections {
  readonly #origin: URL;
  readonly #options: PlainOptions;
  readonly #connect: typeof connect;
  readonly #all = new Set<PlainConnection>();
  /** Idle connections. The one that was used last is reused first, because a server closes those that are idle longest. */
  readonly #idle: PlainConnection[] = [];
  #reusesConnections = true;

  constructor(origin: URL, options: PlainOptions, connectSocket: typeof connect) {
    this.#origin = origin;
    this.#options = options;
    this.#connect = connectSocket;
  }

  dispatch(request: DispatchOptions, handler: HttpExchange): void {
    const bytes = requestBytes(this.#origin.host, request);
    const reusedConnection = this.#takeIdle();
    new PlainExchange(reusedConnection ?? this.#open(), handler, {
      onReusable: (connection) => {
        if (this.#reusesConnections) this.#idle.push(connection);
        else connection.socket.destroy();
      },
      onLost: () => {
        if (reusedConnection === undefined) return;
        this.#reusesConnections = false;
        for (const { socket } of this.#idle.splice(0)) socket.destroy();
      },
      ...this.#options,
    }).send(bytes);
  }

  async destroy(): Promise<void> {
    for (const { socket, exchange } of this.#all) if (exchange !== null) socket.destroy();
    // Idle connections are closed a moment later, so that a process that exits now saves the millisecond of closing them.
    setImmediate(() => {
      for (const { socket } of this.#all) socket.destroy();
    }).unref();
  }

  #takeIdle(): PlainConnection | undefined {
    let connection = this.#idle.pop();
    while (connection !== undefined && !connection.socket.writable) connection = this.#idle.pop();
    return connection;
  }

  #open(): PlainConnection {
    const { hostname, port } = this.#origin;
    // `onread` avoids the setup of a stream's events, which takes as long as the connection itself.
    const socket = this.#connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || 80),
      lookup: lookupLocalName,
      onread: {
        buffer: Buffer.allocUnsafe(readBytes),
        callback(count, buffer) {
          // Bytes on an idle connection belong to no response.
          if (connection.exchange === null) socket.destroy();
          else connection.exchange.take(Buffer.from(buffer.subarray(0, count)));
          return true;
        },
      },
    });
    const connection: PlainConnection = { socket, exchange: null };
    this.#all.add(connection);
    this.#options.onOpened?.(socket);
    socket
      .on('end', () => connection.exchange?.finish())
      .on('error', (error) => connection.exchange?.fail(error))
      .on('close', () => {
        this.#all.delete(connection);
        connection.exchange?.fail(new Error('the connection was closed'));
      });
    return connection;
  }
}

/** Encodes a request. Throws a `TypeError` for a path or a header that could be used to inject another request or header. */
function requestBytes(host: string, { method, path, headers, body }: DispatchOptions): Buffer {
  const content = Buffer.from(body ?? '');
  const fields = Object.entries({ Host: host, Connection: 'keep-alive', ...headers });
  if (body !== null || method === 'POST' || method === 'PATCH')
    fields.push(['Content-Length', `${content.length}`]);
  if (!/^[!-~]+$/.test(path)) throw new TypeError('The path of a request contains an invalid character.');
  for (const [name, value] of fields) {
    if (!/^[\w-]+$/.test(name) || !/^[\t -~\u0080-\u00ff]*$/.test(value)) {
      throw new TypeError(`The header ${JSON.stringify(name)} contains an invalid character.`);
    }
  }
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n`, 'latin1'), content]);
}

interface ExchangeOptions extends PlainOptions {
  /** Called when the connection may serve another request. */
  readonly onReusable: (connection: PlainConnection) => void;
  /** Called when the connection was closed before the first byte of a response. */
  readonly onLost: () => void;
}

/** One request over a plain connection. It makes the same calls to its handler as undici does. */
class PlainExchange implements BodySource {
  readonly #connection: PlainConnection;
  readonly #handler: HttpExchange;
  readonly #options: ExchangeOptions;
  readonly #parser: ResponseParser;
  #connecting: NodeJS.Timeout | undefined;
  #reason: Error | null = null;
  #received = 0;
  #isOver = false;

  constructor(connection: PlainConnection, handler: HttpExchange, options: ExchangeOptions) {
    this.#connection = connection;
    this.#handler = handler;
    this.#options = options;
    this.#parser = new ResponseParser({
      head: (status, headers) => {
        if (status === 101) throw new Error('it switched to a protocol that was not requested');
        handler.onResponseStart(this, status, headers);
      },
      data: (chunk) => handler.onResponseData(this, chunk),
    });
    connection.exchange = this;
  }

  send(bytes: Buffer): void {
    const { socket } = this.#connection;
    const start = () => {
      clearTimeout(this.#connecting);
      this.#handler.onRequestStart(this);
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
    this.#received += bytes.length;
    if (this.#received > this.#options.maxBytes) {
      this.abort(tooLarge(this.#options.maxBytes));
      return;
    }
    try {
      const consumed = this.#parser.take(bytes);
      if (this.#parser.isComplete) this.#complete(consumed === bytes.length);
    } catch (error) {
      this.abort(error as Error);
    }
  }

  /** The server has ended the connection. */
  finish(): void {
    this.#parser.finish();
    if (this.#parser.isComplete) this.#complete(false);
    else this.fail(new Error('the response was cut off'));
  }

  fail(error: Error): void {
    clearTimeout(this.#connecting);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connection.exchange = null;
    this.#connection.socket.destroy();
    if (this.#received === 0 && this.#reason === null) this.#options.onLost();
    this.#handler.onResponseError(this, this.#reason ?? error);
  }

  pause(): void {
    if (!this.#isOver) this.#connection.socket.pause();
  }

  resume(): void {
    if (!this.#isOver) this.#connection.socket.resume();
  }

  abort(reason: Error): void {
    if (this.#isOver) return;
    this.#reason ??= reason;
    this.#connection.socket.destroy();
  }

  /**
   * `isLast`: no bytes followed the response. The connection is kept only if both sides have finished this request and no other bytes have
   * arrived.
   */
  #complete(isLast: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { socket } = this.#connection;
    this.#connection.exchange = null;
    if (isLast && this.#reason === null && this.#parser.isPersistent && socket.writableLength === 0) {
      socket.resume();
      socket.unref();
      this.#options.onReusable(this.#connection);
    } else {
      socket.destroy();
    }
    this.#handler.onResponseEnd();
  }
}
