// Sends requests to a plain `http:` server through an HTTP proxy, which forwards them. As in curl, they have the absolute form (RFC 9112,
// section 3.2.2), because many proxies allow a tunnel only to the port of `https:`.
import type { Pool } from 'undici';
import type { Connections } from './plain-connections.ts';

/** `pool` connects to the proxy. The user and the password of the proxy go to the proxy alone, which does not forward them. */
export function throughForwardingProxy(pool: Pool, origin: string, proxy: string): Connections {
  const { origin: proxyOrigin, username, password } = new URL(proxy);
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const proxyHeaders = {
    host: new URL(origin).host,
    ...(username !== '' && { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }),
  };
  return {
    dispatch: ({ path, headers, ...request }, handler) =>
      pool.dispatch(
        { ...request, origin: proxyOrigin, path: origin + path, headers: { ...proxyHeaders, ...headers } },
        handler,
      ),
    destroy: () => pool.destroy(),
  };
}
