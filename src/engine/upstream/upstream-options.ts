// What an upstream engine is made of, handed in from outside: how it reaches its server, and how it learns its key.
import type { HttpRequest } from '../../http/http-client.ts';
import type { ProxyVariables } from '../../http/proxy-choice.ts';

export interface UpstreamOptions {
  readonly proxies: ProxyVariables;
  /** Certificates (PEM) of all who may sign; null for those that Node trusts. */
  readonly authorities: () => Promise<readonly string[] | null>;
  /** The key behind a reference, read anew; rejects with a `ParleyError` that never holds it. The signal ends a command that runs for it. */
  readonly readKey: (reference: string, mode: string, signal: AbortSignal) => Promise<string>;
  /** Seconds of silence to wait through, before the first token and after; null for what the mode says. */
  readonly timeout: number | null;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Told each request before it is sent, with the key in it to be taken out; null to tell nobody. */
  readonly trace: ((request: HttpRequest, origin: string, key: TracedKey) => Promise<void>) | null;
}

export interface TracedKey {
  /** Empty for a server that asks for none. */
  readonly key: string;
  /** Where it was read. */
  readonly reference: string;
}
