// What a remote backend is made of: where the server is, what is known of it, and the outside world.
import type { ProxyVariables } from '../http/proxy-choice.ts';

export interface RemoteOptions {
  /** Without a slash at its end; its path is the prefix of every request. */
  readonly url: string;
  /** A JSON Pointer to the reply in a chat's answer; null to look for it. */
  readonly replyPointer: string | null;
  /** What the server offered before; null where that is not known. */
  readonly extensions: readonly string[] | null;
  readonly env: ProxyVariables & { readonly NODE_EXTRA_CA_CERTS?: string | undefined };
  /** A file of certificates (PEM) to trust besides the usual ones. */
  readonly authorityFile: string | null;
  /** Seconds; null for the usual. */
  readonly timeout: number | null;
  /** Told each request, as a command that repeats it, and then how long it took; null to tell nobody. */
  readonly trace: ((line: string) => Promise<void>) | null;
  readonly now: () => number;
  /** 0 to 1. */
  readonly random: () => number;
  /** Names one request for the server, so that sending it again does nothing twice. */
  readonly newIdempotencyKey: () => string;
  /** Resolves after so many ms, or rejects with the signal's reason. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}
