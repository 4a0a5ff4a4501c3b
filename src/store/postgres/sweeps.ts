// Deletes from time to time the rows that are no longer needed: expired idempotency keys, and parts of ended replies.
import { monotonicMs } from '../../system/monotonic-clock.ts';
import type { IdempotencyKey } from '../session-store.ts';
import { type IdempotencyTools, sweepOld } from './idempotency.ts';
import { sweepParts } from './reply-parts.ts';

/** How often (ms), at most. */
const everyMs = 60_000;

export class Sweeps {
  readonly #tools: IdempotencyTools;
  #doneUntil = Number.NEGATIVE_INFINITY;
  #sweeping: Promise<unknown> = Promise.resolve();

  constructor(tools: IdempotencyTools) {
    this.#tools = tools;
  }

  /** Called with the key of each write. No call waits for the deletion. */
  sweep(idempotencyKey: IdempotencyKey | null): void {
    if (idempotencyKey === null || monotonicMs() < this.#doneUntil) return;
    this.#doneUntil = monotonicMs() + everyMs;
    const { ask } = this.#tools.connections;
    this.#sweeping = Promise.allSettled([sweepOld(ask, this.#tools.keptMs(idempotencyKey)), sweepParts(ask)]);
  }

  async idle(): Promise<void> {
    await this.#sweeping;
  }
}
