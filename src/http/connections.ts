// The pool of connections from one client to one origin, through the proxy if there is one. undici is loaded only when it is needed, because
// loading it takes as long as the rest of a start.
import type { Socket } from 'node:net';
import type { buildConnector, Pool } from 'undici';
import { throughForwardingProxy } from './forwarding-proxy.ts';
import { codeOf, tooLarge } from './http-failure.ts';
import { isLocalName, isLoopback, lookupLocalName } from './loopback.ts';
import type { Connections, PlainOptions } from './plain-connections.ts';

export interface ConnectionOptions extends PlainOptions {
  /** The URL of a proxy; null for none. */
  readonly proxy: string | null;
  /** The certificates (PEM) of all trusted authorities; null for Node's default. */
  readonly authorities: readonly string[] | null;
}

export async function openConnections(origin: string, options: ConnectionOptions): Promise<Connections> {
  const { protocol, hostname } = new URL(origin);
  if (protocol !== 'http:' || !isLoopback(hostname)) return undiciConnections(origin, options);
  const { plainConnections } = await import('./plain-connections.ts');
  return plainConnections(origin, options);
}

async function undiciConnections(origin: string, options: ConnectionOptions): Promise<Connections> {
  const [undici, { setFlagsFromString }] = await Promise.all([import('undici'), import('node:v8')]);
  // V8 would begin to optimize undici's HTTP parser (WebAssembly) after some responses, and on Node 20 the end of the process waits 0.1 s
  // for that. The baseline code is fast enough. The flag is set after the import, because V8 rejects a code cache that was created with
  // other flags.
  setFlagsFromString('--wasm-tiering-budget=100000000');
  const connect = {
    timeout: options.connectMs,
    // The variable NODE_TLS_REJECT_UNAUTHORIZED changes only Node's default. A key is never sent to a server whose certificate is not checked.
    rejectUnauthorized: true,
    ...(isLocalName(new URL(origin).hostname) && { lookup: lookupLocalName }),
    ...(options.authorities !== null && { ca: [...options.authorities] }),
  };
  // undici's own time-outs are off: they count in whole seconds, and also while the reader pauses. The deadlines of watchdog.ts replace
  // them.
  const limits = { headersTimeout: 0, bodyTimeout: 0 };
  const open = (connector: buildConnector.connector) => withObserver(connector, options);
  if (options.proxy?.startsWith('socks')) {
    const agent = new undici.Socks5ProxyAgent(options.proxy, {
      connect: undici.buildConnector({ timeout: options.connectMs }),
    });
    const connector = throughTunnel(agent as unknown as SocksTunnels, undici.buildConnector(connect));
    return new undici.Pool(origin, { ...limits, connect: open(limitTunnel(connector, options.connectMs)) });
  }
  if (options.proxy !== null && origin.startsWith('http:')) {
    const connector = undici.buildConnector(connect);
    const pool = new undici.Pool(new URL(options.proxy).origin, {
      ...limits,
      // undici takes the name for TLS from the header `host`, which names the server. Without a name it takes that of the proxy.
      connect: open((place, opened) => connector({ ...place, servername: '' }, opened)),
    });
    return throughForwardingProxy(pool, origin, options.proxy);
  }
  if (options.proxy !== null) {
    return new undici.ProxyAgent({
      ...limits,
      uri: options.proxy,
      requestTls: connect,
      proxyTls: connect,
      // The agent connects through the proxy. This pool watches the connections.
      factory: (place, { connect: tunnel, ...rest }: TunnelOptions) =>
        new undici.Pool(place, { ...rest, connect: open(limitTunnel(tunnel, options.connectMs)) }),
    });
  }
  return new undici.Pool(origin, { ...limits, connect: open(undici.buildConnector(connect)) });
}

/** A method of undici's SOCKS agent that is missing in its types. The agent's own pool of connections cannot be watched. */
interface SocksTunnels {
  createSocks5Connection(host: string, port: number): Promise<Socket>;
}

/** Opens a connection through the tunnel of the proxy, with TLS for `https`. */
function throughTunnel(agent: SocksTunnels, secure: buildConnector.connector): buildConnector.connector {
  return (place, opened) => {
    const isSecure = place.protocol === 'https:';
    const port = Number(place.port) || (isSecure ? 443 : 80);
    agent.createSocks5Connection(place.hostname, port).then(
      (socket) => {
        if (isSecure) secure({ ...place, httpSocket: socket }, opened);
        else opened(null, socket);
      },
      (error: Error) => opened(error, null),
    );
  };
}

/** The options that undici's ProxyAgent passes to the pool of an origin. */
interface TunnelOptions extends Omit<Pool.Options, 'connect'> {
  readonly connect: buildConnector.connector;
}

/**
 * Ends a request for a tunnel that the proxy does not answer in time, or answers by hanging up. undici has no limit for it, and requests it
 * without end after a failure with the code UND_ERR_SOCKET, so the failure gets another code.
 */
function limitTunnel(open: buildConnector.connector, ms: number): buildConnector.connector {
  return (place, opened) => {
    let isOver = false;
    const end: buildConnector.Callback = (error, socket) => {
      clearTimeout(timer);
      if (isOver) socket?.destroy();
      else if (error === null) opened(null, socket);
      else opened(codeOf(error) === 'UND_ERR_SOCKET' ? withoutTunnel('UND_ERR_ABORTED', error) : error, null);
      isOver = true;
    };
    const timer = setTimeout(() => end(withoutTunnel('ETIMEDOUT'), null), ms);
    open(place, end);
  };
}

function withoutTunnel(code: string, cause?: Error): Error {
  return Object.assign(new Error('no tunnel through the proxy', { cause }), { code });
}

/** Reports each opened connection, and limits its responses. */
function withObserver(
  open: buildConnector.connector,
  { onOpened, maxBytes }: ConnectionOptions,
): buildConnector.connector {
  return (place, opened) =>
    open(place, (...result) => {
      // After an error there is no socket, although the types say so.
      if (result[1]) {
        onOpened?.(result[1]);
        limitResponses(result[1], maxBytes);
      }
      opened(...result);
    });
}

/**
 * Ends the connection when a response has more bytes. undici's handlers see only the body, but heads, chunk sizes and chunk extensions count
 * too. A response begins with the first byte after a request was written.
 */
function limitResponses(socket: Socket, maxBytes: number): void {
  let bytesWritten = socket.bytesWritten;
  let bytesRead = socket.bytesRead;
  let start = bytesRead;
  // This listener only counts. undici reads the bytes.
  socket.on('readable', () => {
    if (socket.bytesWritten !== bytesWritten) start = bytesRead;
    bytesWritten = socket.bytesWritten;
    bytesRead = socket.bytesRead;
    if (bytesRead - start > maxBytes) socket.destroy(tooLarge(maxBytes));
  });
}
