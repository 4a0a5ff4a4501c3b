// The options of an upstream engine: how it reaches its server, and how it reads its key.
import type { HttpRequest } from '../../http/http-client.ts';
import type { ProxyVariables } from '../../http/proxy-choice.ts';

export interface UpstreamOptions {
  readonly proxies: ProxyVariables;
  /** Certificates (PEM) of all authorities to trust; null for those that Node trusts. */
  readonly authorities: () => Promise<readonly string[] | null>;
  /**
   * Reads the key of a reference, each time anew. Rejects with a `ParleyError` that does not contain the key. The signal stops a command that
   * prints the key.
   */
  readonly readKey: (reference: string, mode: string, signal: AbortSignal) => Promise<string>;
  /** The longest silence in seconds, before the first token and after it; null for the times of the mode. */
  readonly timeout: number | null;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Called with each request before it is sent, and with its key, which must not be traced. Null for no trace. */
  readonly trace: ((request: HttpRequest, origin: string, key: TracedKey) => Promise<void>) | null;
}

interface TracedKey {
  /** Empty for a server that needs no key. */
  readonly key: string;
  /** The reference that the key was read from. */
  readonly reference: string;
}
