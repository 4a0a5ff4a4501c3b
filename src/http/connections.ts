// The connections of one client to one origin: kept alive, through the proxy if there is one, trusting who is to be trusted.
// undici is loaded here, when it is needed: it costs as much as the rest of a start.
import type { buildConnector, Pool } from 'undici';
import { limitAnswers } from './answer-meter.ts';
import { isLocalName, isLoopback, lookupLocalName } from './loopback.ts';
import type { Connections } from './plain-connections.ts';
import type { Traffic } from './traffic.ts';

export interface ConnectionOptions {
  /** A proxy's URL; null for none. */
  readonly proxy: string | null;
  /** Certificates (PEM) of all who may sign; null for those that Node trusts. */
  readonly authorities: readonly string[] | null;
  readonly connectMs: number;
  /** Of one answer, with its heads and the frames of its chunks. Through a SOCKS proxy, undici shows no connection: the body counts. */
  readonly mostBytes: number;
  /** Told of each connection to the server that is opened, but for those through a proxy; null where nobody asks. */
  readonly traffic: Traffic | null;
}

export async function openConnections(origin: string, options: ConnectionOptions): Promise<Connections> {
  const { protocol, hostname } = new URL(origin);
  if (protocol !== 'http:' || !isLoopback(hostname)) return undiciConnections(origin, options);
  const { plainConnections } = await import('./plain-connections.ts');
  return plainConnections(origin, options);
}

async function undiciConnections(origin: string, options: ConnectionOptions): Promise<Connections> {
  const [undici, { setFlagsFromString }] = await Promise.all([import('undici'), import('node:v8')]);
  // V8 would begin to optimize undici's parser of HTTP (WebAssembly) after some answers, and on Node 20 the end of the process waits
  // for that: 0.1 s. What V8 makes of it at once is quick enough. Set after the import: with another flag than at its making, a code
  // cache is refused.
  setFlagsFromString('--wasm-tiering-budget=100000000');
  const connect = {
    timeout: options.connectMs,
    ...(isLocalName(new URL(origin).hostname) && { lookup: lookupLocalName }),
    ...(options.authorities !== null && { ca: [...options.authorities] }),
  };
  // The deadlines are this client's own: undici's count by the second, and also while the reader pauses.
  const limits = { headersTimeout: 0, bodyTimeout: 0 };
  const open = (connector: buildConnector.connector) => watched(connector, options);
  if (options.proxy !== null) {
    return new undici.ProxyAgent({
      ...limits,
      uri: options.proxy,
      requestTls: connect,
      proxyTls: connect,
      // The agent connects through the proxy; what it connects to is watched.
      factory: (place, { connect: tunnel, ...rest }: TunnelOptions) =>
        new undici.Pool(place, { ...rest, connect: open(tunnel) }),
    });
  }
  return new undici.Pool(origin, { ...limits, connect: open(undici.buildConnector(connect)) });
}

/** What undici's agent for proxies gives to the pool of an origin. */
interface TunnelOptions extends Omit<Pool.Options, 'connect'> {
  readonly connect: buildConnector.connector;
}

function watched(
  open: buildConnector.connector,
  { traffic, mostBytes }: ConnectionOptions,
): buildConnector.connector {
  return (place, opened) =>
    open(place, (...result) => {
      // After an error there is none, whatever the types say.
      if (result[1]) {
        traffic?.add(result[1]);
        limitAnswers(result[1], mostBytes);
      }
      opened(...result);
    });
}
