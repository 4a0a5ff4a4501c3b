// Deletes, from time to time, what nobody needs any more: idempotency keys that are too old to count, and parts of ended replies.
import { monotonicMs } from '../../system/monotonic-clock.ts';
import type { IdempotencyKey } from '../session-store.ts';
import { type OnceTools, sweepOld } from './idempotency.ts';
import { sweepParts } from './reply-parts.ts';

/** How often (ms), at most. */
const everyMs = 60_000;

export class Sweeps {
  readonly #tools: OnceTools;
  #doneUntil = Number.NEGATIVE_INFINITY;
  #sweeping: Promise<unknown> = Promise.resolve();

  constructor(tools: OnceTools) {
    this.#tools = tools;
  }

  /** Called with the key of each write. No call waits for the deletion. */
  sweep(once: IdempotencyKey | null): void {
    if (once === null || monotonicMs() < this.#doneUntil) return;
    this.#doneUntil = monotonicMs() + everyMs;
    const { ask } = this.#tools.connections;
    this.#sweeping = Promise.allSettled([sweepOld(ask, this.#tools.keptMs(once)), sweepParts(ask)]);
  }

  async idle(): Promise<void> {
    await this.#sweeping;
  }
}
