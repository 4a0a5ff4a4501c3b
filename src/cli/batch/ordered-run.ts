// Runs the items of a batch concurrently and writes their results in the order of the items. The number of unwritten items is limited: no
// item is admitted while the window is full. The code knows nothing about the items themselves.
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';

export interface OrderedWork<Item, Result> {
  /** How many items may run at a time. */
  readonly concurrency: number;
  /** How much may be admitted and not yet written: the number of items, and their total weight (a single item may weigh more). */
  readonly window: { readonly items: number; readonly weight?: number };
  /** Stops the run: no further item is admitted or started, and the results of the started items are written. */
  readonly signal: AbortSignal;
  /** The shortest time (ms) between two writes while items run; by default 0. */
  readonly gatherMs?: number;
  /** Items of the same lane run one after the other, in order. Null for an item that waits for no other. */
  lane?(item: Item): string | null;
  weight?(item: Item): number;
  weightOf?(result: Result): number;
  /** Runs an item. Must not reject. */
  run(item: Item): Promise<Result>;
  /** Writes the next results in order, one call at a time. If it rejects, the whole run rejects. */
  write(results: readonly Result[]): Promise<void>;
}

interface Slot<Item, Result> {
  readonly item: Item;
  readonly lane: string | null;
  state: 'waiting' | 'running' | { readonly result: Result };
  weight: number;
}

/** Resolves when all results are written, or after the signal, when those of the started items are. Rejects if `items` does. */
export async function runInOrder<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: OrderedWork<Item, Result>,
): Promise<void> {
  const run = new OrderedRun(work);
  try {
    for await (const item of items) {
      if (!run.admit(item)) break;
      await run.waitForRoom();
    }
  } finally {
    await run.finish();
  }
}

class OrderedRun<Item, Result> {
  readonly #work: OrderedWork<Item, Result>;
  /** In the order of the items. The slots before `#head` are written or being written. */
  #slots: Slot<Item, Result>[] = [];
  #head = 0;
  #weight = 0;
  #running = 0;
  #unwritten = 0;
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** The slots that may start when another item ends. */
  readonly #ready: Slot<Item, Result>[] = [];
  readonly #lanes = new Map<string, Slot<Item, Result>[]>();
  #writing: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;
  #wake: () => void = () => {};

  constructor(work: OrderedWork<Item, Result>) {
    this.#work = work;
    work.signal.addEventListener('abort', () => this.#wake());
  }

  /** Returns false if the run is stopped. */
  admit(item: Item): boolean {
    if (this.#isStopped) return false;
    const weight = this.#work.weight?.(item) ?? 0;
    const lane = this.#work.lane?.(item) ?? null;
    const slot: Slot<Item, Result> = { item, lane, state: 'waiting', weight };
    this.#slots.push(slot);
    this.#unwritten += 1;
    this.#weight += weight;
    const queue = lane === null ? undefined : this.#lanes.get(lane);
    if (queue !== undefined) queue.push(slot);
    else {
      if (lane !== null) this.#lanes.set(lane, []);
      this.#ready.push(slot);
      this.#begin();
    }
    return true;
  }

  /** Resolves when the next item may be admitted: not before all earlier ones have started, except those that wait in a lane. */
  async waitForRoom(): Promise<void> {
    const { items, weight = Number.POSITIVE_INFINITY } = this.#work.window;
    const isRoom = () => this.#ready.length === 0 && this.#unwritten < items && this.#weight < weight;
    await this.#waitUntil(() => this.#isStopped || isRoom());
  }

  async finish(): Promise<void> {
    await this.#waitUntil(() => this.#running === 0 && (this.#isStopped || this.#unwritten === 0));
    if (this.#failure === null && this.#unwritten > 0) {
      // Removes the items that were not started, so that no later result waits for them.
      while (this.#writing !== null) await this.#writing;
      const remaining = this.#slots.slice(this.#head);
      this.#slots = remaining.filter(({ state }) => typeof state === 'object');
      this.#head = 0;
      this.#flush();
    }
    while (this.#writing !== null) await this.#writing;
    if (this.#failure !== null) throw this.#failure.error;
  }

  get #isStopped(): boolean {
    return this.#failure !== null || this.#work.signal.aborted;
  }

  async #waitUntil(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #begin(): void {
    while (!this.#isStopped && this.#running < this.#work.concurrency) {
      const slot = this.#ready.shift();
      if (slot === undefined) break;
      this.#running += 1;
      slot.state = 'running';
      void this.#work.run(slot.item).then((result) => this.#end(slot, result));
    }
  }

  #end(slot: Slot<Item, Result>, result: Result): void {
    this.#running -= 1;
    slot.state = { result };
    const more = this.#work.weightOf?.(result) ?? 0;
    slot.weight += more;
    this.#weight += more;
    const { lane } = slot;
    const queue = lane === null ? undefined : this.#lanes.get(lane);
    const next = queue?.shift();
    if (next !== undefined) this.#ready.push(next);
    else if (lane !== null) this.#lanes.delete(lane);
    this.#begin();
    this.#flush();
    this.#wake();
  }

  /** Writes the results that are next in order, until there are none. */
  #flush(): void {
    if (this.#writing !== null || this.#failure !== null) return;
    if (typeof this.#slots[this.#head]?.state !== 'object') return;
    this.#writing = this.#writeReady().then(
      () => {
        this.#writing = null;
        this.#wake();
      },
      (error: unknown) => {
        this.#writing = null;
        this.#failure = { error };
        this.#wake();
      },
    );
  }

  async #writeReady(): Promise<void> {
    for (;;) {
      // Results that end together share a write, because each write costs a system call.
      const waitMs = this.#writtenAt + (this.#work.gatherMs ?? 0) - monotonicMs();
      if (waitMs > 0 && this.#running > 0) await delay(waitMs);
      else await yieldToEventLoop();
      const results: Result[] = [];
      let weight = 0;
      for (let slot = this.#slots[this.#head]; slot !== undefined; slot = this.#slots[this.#head]) {
        if (typeof slot.state !== 'object') break;
        results.push(slot.state.result);
        weight += slot.weight;
        this.#head += 1;
      }
      if (results.length === 0) return;
      this.#slots = this.#slots.slice(this.#head);
      this.#head = 0;
      await this.#work.write(results);
      this.#writtenAt = monotonicMs();
      this.#unwritten -= results.length;
      this.#weight -= weight;
      this.#wake();
    }
  }
}
