// Chooses the proxy for an origin from the variables that undici's EnvHttpProxyAgent reads. Requests to this machine use none. That agent is
// not used, because it does not reveal the proxy, which a failure must name.
import { BlockList, isIP } from 'node:net';
import { isLoopback } from './loopback.ts';

/** The variables that name proxies. Those in lower case take precedence. */
export interface ProxyVariables {
  readonly http_proxy?: string | undefined;
  readonly HTTP_PROXY?: string | undefined;
  readonly https_proxy?: string | undefined;
  readonly HTTPS_PROXY?: string | undefined;
  readonly no_proxy?: string | undefined;
  readonly NO_PROXY?: string | undefined;
}

/**
 * The URL of the proxy; null for none. Throws a `TypeError` if the value of a variable is not a proxy. The message names the variable but not
 * the value, which may contain a password.
 */
export function proxyFor(origin: string, env: ProxyVariables): string | null {
  const { protocol, hostname, port } = new URL(origin);
  if (isLoopback(hostname)) return null;
  const isSecure = protocol === 'https:';
  const name = (isSecure ? httpsNames : httpNames).find((variable) => env[variable]);
  if (name === undefined) return null;
  if (isExempt(hostname, port || (isSecure ? '443' : '80'), env.no_proxy || env.NO_PROXY || '')) return null;
  const value = env[name] ?? '';
  // Many users write `proxy:3128`.
  const hasScheme = value.includes('://');
  const url = hasScheme ? value : `http://${value}`;
  const proxy = URL.canParse(url) ? new URL(url) : null;
  // `http:/proxy:3128` would be read as a host with the name http.
  if (proxy === null || (!hasScheme && proxy.pathname !== '/')) {
    throw new TypeError(`the variable ${name} is not a URL`);
  }
  if (!proxyProtocols.includes(proxy.protocol)) {
    throw new TypeError(
      `the variable ${name} has the protocol ${proxy.protocol}, which is not one of ${proxyProtocols.join(' ')}`,
    );
  }
  if (!isDecodable(`${proxy.username} ${proxy.password}`)) {
    throw new TypeError(
      `the user name or the password in the variable ${name} is not valid percent-encoding`,
    );
  }
  // undici refuses a proxy with a path or a query. As in curl, they have no meaning.
  const [, withoutPath = url] = /^([^/]+\/\/[^/?#]*)/.exec(url) ?? [];
  return withoutPath;
}

/** The protocols that undici can speak with a proxy. */
const proxyProtocols: readonly string[] = ['http:', 'https:', 'socks5:', 'socks:'];

function isDecodable(text: string): boolean {
  try {
    // The result is used, because a bundler removes a call whose result is not used.
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

const httpNames = ['http_proxy', 'HTTP_PROXY'] as const;
const httpsNames = ['https_proxy', 'HTTPS_PROXY', ...httpNames] as const;

function isExempt(hostname: string, port: string, noProxy: string): boolean {
  return noProxy.split(/[,\s]+/).some((entry) => {
    if (entry === '*' || isInNetwork(hostname, entry)) return true;
    // An IPv6 address without brackets has no port.
    const [, name = entry, onlyPort = port] = /^([^:]+|\[.+\]):(\d+)$/.exec(entry) ?? [];
    const domain = (name.includes(':') && !name.startsWith('[') ? `[${name}]` : name)
      .replace(/^\*?\.|\.$/g, '')
      .toLowerCase();
    return domain !== '' && onlyPort === port && `.${hostname}`.replace(/\.$/, '').endsWith(`.${domain}`);
  });
}

/** True for an address in a network such as `10.0.0.0/8`, as in curl and Go. A name is not resolved for this. */
function isInNetwork(hostname: string, entry: string): boolean {
  const [, network = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  const address = withoutBrackets(hostname);
  const base = withoutBrackets(network);
  const family = isIP(address);
  const maxBits = family === 6 ? 128 : 32;
  if (family === 0 || isIP(base) !== family || Number(bits) > maxBits) return false;
  const type = family === 6 ? 'ipv6' : 'ipv4';
  const networks = new BlockList();
  networks.addSubnet(base, Number(bits), type);
  return networks.check(address, type);
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
