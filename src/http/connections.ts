// The connections of one client to one origin: kept alive, through the proxy if there is one, trusting who is to be trusted.
// undici is loaded here, when the first request is made: it costs as much as the rest of a start.
import { setFlagsFromString } from 'node:v8';
import type { Dispatcher } from 'undici';
import type { Connections } from './plain-connections.ts';
import { isLoopback } from './proxy-choice.ts';
import { Traffic } from './traffic.ts';

export interface ConnectionOptions {
  /** A proxy's URL; null for none. */
  readonly proxy: string | null;
  /** Certificates (PEM) of all who may sign; null for those that Node trusts. */
  readonly authorities: readonly string[] | null;
  readonly connectMs: number;
}

export async function openConnections(origin: string, options: ConnectionOptions): Promise<Connections> {
  const { protocol, hostname } = new URL(origin);
  if (protocol === 'http:' && isLoopback(hostname)) {
    const { plainConnections } = await import('./plain-connections.ts');
    return plainConnections(options.connectMs);
  }
  const undici = await import('undici');
  // V8 would begin to optimize undici's parser of HTTP (WebAssembly) after some answers, and on Node 20 the end of the process waits
  // for that: 0.1 s. What V8 makes of it at once is quick enough. Set after the import: with another flag than at its making, a code
  // cache is refused.
  setFlagsFromString('--wasm-tiering-budget=100000000');
  const connect = {
    timeout: options.connectMs,
    ...(options.authorities !== null && { ca: [...options.authorities] }),
  };
  // The clocks are this client's own: undici's count by the second, and also while the reader pauses.
  const agent = { headersTimeout: 0, bodyTimeout: 0 };
  if (options.proxy !== null) {
    const proxy = { uri: options.proxy, requestTls: connect, proxyTls: connect };
    return withTraffic(new undici.ProxyAgent({ ...agent, ...proxy }), null);
  }
  const traffic = new Traffic();
  const open = undici.buildConnector(connect);
  return withTraffic(
    new undici.Agent({
      ...agent,
      connect: (place, opened) =>
        open(place, (...result) => {
          // After an error there is none, whatever the types say.
          if (result[1]) traffic.add(result[1]);
          opened(...result);
        }),
    }),
    traffic,
  );
}

function withTraffic(dispatcher: Dispatcher, traffic: Traffic | null): Connections {
  return {
    traffic,
    dispatch: (options, handler) => dispatcher.dispatch(options, handler),
    destroy: () => dispatcher.destroy(),
  };
}
