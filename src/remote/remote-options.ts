// The options of a remote backend: the server, the known facts about it, and the environment.
import type { ProxyVariables } from '../http/proxy-choice.ts';
import type { BackendOptions } from '../service/backend-opening.ts';

export interface RemoteOptions extends Pick<BackendOptions, 'timeout' | 'authorityFile' | 'trace'> {
  /** The base URL, without a slash at its end. Its path is the prefix of every request. */
  readonly url: string;
  /** A JSON Pointer to the reply in the response to a chat; null to search for the reply. */
  readonly replyPointer: string | null;
  /** The extensions that the server offered before; null if unknown. */
  readonly extensions: readonly string[] | null;
  readonly env: ProxyVariables;
  /** The authorities to trust with `authorityFile` (authorities.ts). */
  readonly readAuthorities: (file: string | null) => Promise<readonly string[] | null>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Creates the idempotency key of one request, so that a repeated request has no further effect. */
  readonly newIdempotencyKey: () => string;
  /** Resolves after the given ms, or rejects with the signal's reason. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}
