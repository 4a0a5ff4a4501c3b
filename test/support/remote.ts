// A remote backend, opened as in the program, whose waits are recorded instead of waited.
import { readAuthorities } from '../../src/remote/authorities.ts';
import { openRemoteBackend } from '../../src/remote/remote-backend.ts';
import type { RemoteOptions } from '../../src/remote/remote-options.ts';
import type { Backend } from '../../src/service/backend.ts';

export interface OpenedRemote {
  readonly backend: Backend;
  /** The waits before retries, in ms. */
  readonly waits: readonly number[];
}

export async function openRemote(url: string, options: Partial<RemoteOptions> = {}): Promise<OpenedRemote> {
  const waits: number[] = [];
  let keys = 0;
  const backend = await openRemoteBackend({
    url,
    replyPointer: null,
    extensions: null,
    env: {},
    authorityFile: null,
    readAuthorities: async (file) =>
      file === null ? null : readAuthorities(file, {}, new AbortController().signal),
    timeout: 5,
    trace: null,
    now: () => Date.now(),
    random: () => 0.5,
    newIdempotencyKey: () => {
      keys += 1;
      return `key-${keys}`;
    },
    wait: async (ms, signal) => {
      waits.push(ms);
      signal.throwIfAborted();
    },
    ...options,
  });
  return { backend, waits };
}
