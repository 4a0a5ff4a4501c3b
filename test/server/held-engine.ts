// An engine whose replies are controlled by a test: each sends its text when the test lets it.
import type { EngineSet } from '../../src/engine/engine-set.ts';
import { engineOf, finish } from '../support/embedded.ts';

export interface HeldEngine {
  readonly engines: EngineSet;
  /** The number of replies that were begun, and of those that were stopped. */
  readonly begun: () => number;
  readonly stopped: () => number;
  /** Lets each current and later reply end. */
  release(): void;
}

/** Sends `half `, waits for `release`, and sends `whole`. It obeys its signal. */
export function heldEngine(): HeldEngine {
  let begun = 0;
  let stopped = 0;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const engines = engineOf(async function* (_context, signal) {
    begun += 1;
    yield { type: 'text', text: 'half ' };
    const aborted = new Promise<void>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        stopped += 1;
        reject(signal.reason);
      });
    });
    await Promise.race([released, aborted]);
    yield { type: 'text', text: 'whole' };
    yield finish;
  });
  return { engines, begun: () => begun, stopped: () => stopped, release };
}
