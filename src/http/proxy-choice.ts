// Through which proxy an origin is reached: what the environment says, as undici's EnvHttpProxyAgent reads it, and never for this
// machine. Chosen here and not by that agent, so that a failure can name the proxy.

/** The variables that name proxies; those in lower case count first. */
export interface ProxyVariables {
  readonly http_proxy?: string | undefined;
  readonly HTTP_PROXY?: string | undefined;
  readonly https_proxy?: string | undefined;
  readonly HTTPS_PROXY?: string | undefined;
  readonly no_proxy?: string | undefined;
  readonly NO_PROXY?: string | undefined;
}

/** The proxy's URL, or null. Throws a `TypeError` that names the variable whose value is no URL, and never the value. */
export function proxyFor(origin: string, env: ProxyVariables): string | null {
  const { protocol, hostname, port } = new URL(origin);
  if (isLoopback(hostname)) return null;
  const https = protocol === 'https:';
  const name = (https ? httpsNames : httpNames).find((variable) => env[variable]);
  if (name === undefined) return null;
  if (isExempt(hostname, port || (https ? '443' : '80'), env.no_proxy || env.NO_PROXY || '')) return null;
  const value = env[name] ?? '';
  // `proxy:3128` is what many write.
  const url = value.includes('://') ? value : `http://${value}`;
  if (!URL.canParse(url)) throw new TypeError(`the variable ${name} holds no URL`);
  return url;
}

/** Of a parsed URL. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.*\.localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(hostname);
}

const httpNames = ['http_proxy', 'HTTP_PROXY'] as const;
const httpsNames = ['https_proxy', 'HTTPS_PROXY', ...httpNames] as const;

function isExempt(hostname: string, port: string, noProxy: string): boolean {
  return noProxy.split(/[,\s]+/).some((entry) => {
    if (entry === '*') return true;
    const [, name = entry, onlyPort = port] = /^(.+):(\d+)$/.exec(entry) ?? [];
    const domain = name.replace(/^\*?\./, '').toLowerCase();
    return domain !== '' && onlyPort === port && (hostname === domain || hostname.endsWith(`.${domain}`));
  });
}
