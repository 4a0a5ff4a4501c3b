// The options of a remote backend: the server, the known facts about it, and the outside world.
import type { ProxyVariables } from '../http/proxy-choice.ts';

export interface RemoteOptions {
  /** The base URL, without a slash at its end. Its path is the prefix of every request. */
  readonly url: string;
  /** A JSON Pointer to the reply in the response to a chat; null to look for the reply. */
  readonly replyPointer: string | null;
  /** The extensions that the server offered before; null if unknown. */
  readonly extensions: readonly string[] | null;
  readonly env: ProxyVariables & { readonly NODE_EXTRA_CA_CERTS?: string | undefined };
  /** The path of a file of certificates (PEM) to trust besides those that Node trusts; null for none. */
  readonly authorityFile: string | null;
  /** Stops the reading of that file. */
  readonly signal: AbortSignal;
  /** Seconds that the server may be silent; null for the default. */
  readonly timeout: number | null;
  /** Called with each request as a command that repeats it, and then with the time that the request took; null for no trace. */
  readonly trace: ((line: string) => Promise<void>) | null;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Makes the idempotency key of one request, so that a repetition does nothing twice. */
  readonly newIdempotencyKey: () => string;
  /** Resolves after the given ms, or rejects with the signal's reason. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}
