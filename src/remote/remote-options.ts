// The options of a remote backend: the server, the known facts about it, and the environment.
import type { ProxyVariables } from '../http/proxy-choice.ts';

export interface RemoteOptions {
  /** The base URL, without a slash at its end. Its path is the prefix of every request. */
  readonly url: string;
  /** A JSON Pointer to the reply in the response to a chat; null to search for the reply. */
  readonly replyPointer: string | null;
  /** The extensions that the server offered before; null if unknown. */
  readonly extensions: readonly string[] | null;
  readonly env: ProxyVariables;
  /** The path of a file of certificates (PEM) to trust in addition to those that Node trusts; null for none. */
  readonly authorityFile: string | null;
  /** The authorities to trust with that file (authorities.ts). */
  readonly readAuthorities: (file: string | null) => Promise<readonly string[] | null>;
  /** Seconds that the server may be silent; null for the default. */
  readonly timeout: number | null;
  /** Called with each request as a `curl` command, and then with its duration; null for no trace. */
  readonly trace: ((line: string) => Promise<void>) | null;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Creates the idempotency key of one request, so that a repeated request has no further effect. */
  readonly newIdempotencyKey: () => string;
  /** Resolves after the given ms, or rejects with the signal's reason. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}
