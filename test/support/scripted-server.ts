// Small real servers on a port of their own, whose responses a test decides.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { createServer as createBareTlsServer } from 'node:tls';

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TlsIdentity {
  readonly key: string;
  readonly cert: string;
}

export interface ListeningServer {
  readonly url: string;
  readonly port: number;
  /** The number of opened connections. */
  readonly connections: () => number;
  close(): Promise<void>;
}

export interface ScriptedServer extends ListeningServer {
  /** The received requests, in order. */
  readonly requests: readonly ReceivedRequest[];
}

export type Script = (request: ReceivedRequest, response: ServerResponse, count: number) => unknown;

/** `count` is 1 for the first request. */
export async function serve(script: Script, tls: TlsIdentity | null = null): Promise<ScriptedServer> {
  const requests: ReceivedRequest[] = [];
  const listener = (incoming: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
      requests.push(request);
      void script(request, response, requests.length);
    });
  };
  const server = tls === null ? createServer(listener) : createTlsServer(tls, listener);
  return { ...(await listening(server, tls === null ? 'http' : 'https')), requests };
}

/** A server below HTTP: the test writes the bytes, and ends the connection as it likes. */
export function serveBytes(
  onRequest: (socket: Socket, count: number, firstBytes: string) => unknown,
  tls: TlsIdentity | null = null,
): Promise<ListeningServer> {
  let count = 0;
  const listener = (socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      count += 1;
      void onRequest(socket, count, bytes.toString());
    });
  };
  const server = tls === null ? createTcpServer(listener) : createBareTlsServer(tls, listener);
  return listening(server, tls === null ? 'http' : 'https');
}

/**
 * A proxy that connects every host to the server on this port. `seen` gets the head of the first request of each connection: one for a
 * tunnel, or one to forward.
 */
export function serveProxy(port: number, seen: (head: string) => void, tls: TlsIdentity | null = null) {
  return serveBytes((socket, _count, head) => {
    seen(head);
    const onward = connect(port, '127.0.0.1', () => {
      if (head.startsWith('CONNECT ')) socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      else onward.write(head.replace(/ http:\/\/[^/]+/, ' ').replace(/^proxy-authorization: .*\r\n/im, ''));
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
  }, tls);
}

/** A SOCKS5 proxy (RFC 1928) without a password that connects every host to the server on this port. */
export function serveSocks(port: number) {
  return serveBytes((socket) => {
    socket.once('data', () => {
      const onward = connect(port, '127.0.0.1', () => {
        socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
        socket.pipe(onward).pipe(socket);
      });
      onward.on('error', () => socket.destroy());
      socket.on('close', () => onward.destroy());
    });
    socket.write(Buffer.from([5, 0]));
  });
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Opens a server on a free port. */
export async function listening(server: Server, scheme: string): Promise<ListeningServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    connections: () => connections,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
