// Serves the app on a port with Node's HTTP server. Every time-out is set, errors get the app's responses instead of Node's own, and a stop
// loses no reply.
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { ParleyError } from '../service/errors.ts';
import type { App } from './app.ts';
import { type ListeningPort, startListening } from './listening-port.ts';
import { RequestPipeline } from './request-pipeline.ts';
import {
  badTarget,
  type ConnectionError,
  type Refusal,
  refusalOf,
  refusalOfHead,
} from './request-refusal.ts';
import { sendStream } from './send-stream.ts';
import type { ServerLimits } from './server-limits.ts';
import { StalledReaders } from './stalled-readers.ts';

interface ListenOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly limits: ServerLimits;
}

export interface Listening extends ListeningPort {
  /** Ends the running replies, as the app's `stop` does, then the connections. */
  stop(): Promise<void>;
}

/** The current request and response of a connection. A later fault on the connection must not corrupt the response. */
interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** How long complete responses may take to reach their readers after all work has ended, in ms. */
const deliveryMs = 2000;

/** Rejects with `CONFIG` if the address or the port cannot be used. */
export async function listen(app: App, { host, port, limits }: ListenOptions): Promise<Listening> {
  const exchanges = new WeakMap<Duplex, Exchange>();
  const readers = new StalledReaders(limits.stalledMs, limits.checkMs);
  const pipeline = new RequestPipeline();
  const serve = getRequestListener(
    (request, streams) => {
      const { incoming, outgoing } = streams as Exchange;
      const refusal = refusalOfHead(incoming);
      if (refusal !== null) return app.refuse(refusal.error, refusal.status);
      return app.fetch(request, incoming).then((response) => sendStream(response, outgoing));
    },
    // An HTTP/1.0 request need not name a host. `refusalOfHead` checks the host of HTTP/1.1.
    { hostname: 'localhost', errorHandler: () => app.refuse(badTarget.error, badTarget.status) },
  );
  const receive = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    exchanges.set(incoming.socket, { incoming, outgoing });
    pipeline.add(incoming, outgoing, () => {
      readers.watch(incoming.socket, outgoing);
      void serve(incoming, outgoing);
    });
  };
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
      // The app refuses a request without a host itself, so that the response has its form.
      requireHostHeader: false,
    },
    receive,
  );
  // Node silently drops headers beyond a certain count. `maxHeaderSize` already limits their bytes.
  server.maxHeadersCount = 0;
  // A client that waits for 100 Continue gets it when the app reads the body. A refused one need not send its body.
  server.on('checkContinue', (incoming, outgoing) => {
    incoming.once('resume', () => {
      if (!outgoing.headersSent) outgoing.writeContinue();
    });
    receive(incoming, outgoing);
  });
  // A request with an expectation other than 100-continue is served like any other.
  server.on('checkExpectation', receive);
  server.on('connect', (_request, socket) => void send(socket, app, notAProxy));
  server.on('clientError', (error: ConnectionError, socket: Socket) => {
    const current = exchanges.get(socket);
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    const refuse = () => void send(socket, app, refusalOf(error, limits));
    if (current === undefined || current.outgoing.writableFinished) return refuse();
    // The fault is in bytes after a complete request. The response to that request goes first.
    if (current.incoming.complete) return void current.outgoing.once('finish', refuse);
    if (current.outgoing.headersSent) return void socket.destroy();
    refuse();
  });
  const listening = await startListening(server, host, port);
  return { ...listening, stop: () => stop(server, app).finally(() => readers.stop()) };
}

const notAProxy: Refusal = {
  status: 405,
  error: new ParleyError('METHOD_NOT_ALLOWED', 'This server is not a proxy.'),
};

/** Writes a response directly to the socket, because Node's HTTP server has abandoned the connection. */
async function send(socket: Duplex, app: App, { error, status }: Refusal): Promise<void> {
  const response = app.refuse(error, status);
  const body = await response.text();
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}${length}\r\n${body}`, () =>
    socket.destroy(),
  );
}

async function stop(server: Server, app: App): Promise<void> {
  // The server listens until the app has stopped, so that new requests get a response.
  await app.stop();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection becomes idle when its last response is sent. Node closes only the connections that are idle at the time of the call.
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  const timeout = setTimeout(() => server.closeAllConnections(), deliveryMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(timeout);
}
