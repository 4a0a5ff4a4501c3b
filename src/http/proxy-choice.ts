// Through which proxy an origin is reached: what the environment says, as undici's EnvHttpProxyAgent reads it, and never for this
// machine. Chosen here and not by that agent, so that a failure can name the proxy.
import { isLoopback } from './loopback.ts';

/** The variables that name proxies; those in lower case count first. */
export interface ProxyVariables {
  readonly http_proxy?: string | undefined;
  readonly HTTP_PROXY?: string | undefined;
  readonly https_proxy?: string | undefined;
  readonly HTTPS_PROXY?: string | undefined;
  readonly no_proxy?: string | undefined;
  readonly NO_PROXY?: string | undefined;
}

/** The proxy's URL, or null. Throws a `TypeError` that names the variable whose value names no proxy, and never the value. */
export function proxyFor(origin: string, env: ProxyVariables): string | null {
  const { protocol, hostname, port } = new URL(origin);
  if (isLoopback(hostname)) return null;
  const https = protocol === 'https:';
  const name = (https ? httpsNames : httpNames).find((variable) => env[variable]);
  if (name === undefined) return null;
  if (isExempt(hostname, port || (https ? '443' : '80'), env.no_proxy || env.NO_PROXY || '')) return null;
  const value = env[name] ?? '';
  // `proxy:3128` is what many write.
  const hasScheme = value.includes('://');
  const url = hasScheme ? value : `http://${value}`;
  const proxy = URL.canParse(url) ? new URL(url) : null;
  // `http:/proxy:3128` would be a host of the name http.
  if (proxy === null || (!hasScheme && proxy.pathname !== '/')) {
    throw new TypeError(`the variable ${name} holds no URL`);
  }
  if (!proxyProtocols.includes(proxy.protocol)) {
    throw new TypeError(
      `the variable ${name} names a proxy of the kind ${proxy.protocol}, which is not one of ${proxyProtocols.join(' ')}`,
    );
  }
  if (!isDecodable(`${proxy.username} ${proxy.password}`)) {
    throw new TypeError(
      `the user name or the password in the variable ${name} is not percent-encoded as it must be`,
    );
  }
  return url;
}

/** Those that undici speaks. */
const proxyProtocols: readonly string[] = ['http:', 'https:', 'socks5:', 'socks:'];

function isDecodable(text: string): boolean {
  try {
    // The result is used: a bundler takes a call whose result is not used for one that can be left out.
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

const httpNames = ['http_proxy', 'HTTP_PROXY'] as const;
const httpsNames = ['https_proxy', 'HTTPS_PROXY', ...httpNames] as const;

function isExempt(hostname: string, port: string, noProxy: string): boolean {
  return noProxy.split(/[,\s]+/).some((entry) => {
    if (entry === '*') return true;
    // An IPv6 address without brackets has no port.
    const [, name = entry, onlyPort = port] = /^([^:]+|\[.+\]):(\d+)$/.exec(entry) ?? [];
    const domain = (name.includes(':') && !name.startsWith('[') ? `[${name}]` : name)
      .replace(/^\*?\./, '')
      .toLowerCase();
    return domain !== '' && onlyPort === port && (hostname === domain || hostname.endsWith(`.${domain}`));
  });
}
