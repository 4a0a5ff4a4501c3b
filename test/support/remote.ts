// A remote home as the program opens one, with its waits noted instead of waited.
import { openRemoteHome } from '../../src/remote/remote-home.ts';
import type { RemoteOptions } from '../../src/remote/remote-options.ts';
import type { Home } from '../../src/service/home.ts';

export interface OpenedRemote {
  readonly home: Home;
  /** Milliseconds, of each wait before another sending. */
  readonly waits: readonly number[];
}

export async function openRemote(url: string, options: Partial<RemoteOptions> = {}): Promise<OpenedRemote> {
  const waits: number[] = [];
  let keys = 0;
  const home = await openRemoteHome({
    url,
    replyPointer: null,
    extensions: null,
    env: {},
    authorityFile: null,
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
  return { home, waits };
}
