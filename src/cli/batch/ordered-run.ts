// Runs the items of a batch, several at once, and writes their results in the order of the items. Items that run and results that wait
// for a slower item before them are bounded: then no further item is taken in. What the items are is for others to know.
import { setTimeout as delay } from 'node:timers/promises';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';

export interface OrderedWork<Item, Result> {
  /** Items that may run at a time. */
  readonly concurrency: number;
  /** What may be taken in and not be written yet: items, and their weight together (a single item may weigh more). */
  readonly window: { readonly items: number; readonly weight?: number };
  /** Stops the run: no item is taken in or begun any more, and the results of those that were begun are written. */
  readonly signal: AbortSignal;
  /** Milliseconds between two writes at least, while items run; 0 if it is left out. */
  readonly gatherMs?: number;
  /** Items of one lane run one after the other, in their order; null for an item that waits for no other. */
  lane?(item: Item): string | null;
  weight?(item: Item): number;
  weightOf?(result: Result): number;
  /** Must not reject. */
  run(item: Item): Promise<Result>;
  /** Gets the results that are next in order, one call at a time. If it rejects, the whole run rejects. */
  write(results: readonly Result[]): Promise<void>;
}

interface Place<Item, Result> {
  readonly item: Item;
  state: 'waiting' | 'running' | { readonly result: Result };
  weight: number;
  /** The place behind it among those that may begin. */
  next: Place<Item, Result> | null;
}

/** Resolves when all results are written: of all items or, once the signal fired, of those that were begun. Rejects if the items do. */
export async function runInOrder<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: OrderedWork<Item, Result>,
): Promise<void> {
  const run = new OrderedRun(work);
  try {
    for await (const item of items) {
      if (!run.admit(item)) break;
      await run.room();
    }
  } finally {
    await run.finished();
  }
}

class OrderedRun<Item, Result> {
  readonly #work: OrderedWork<Item, Result>;
  /** In the order of the items. Those before `#head` are written, or with the writer. */
  #places: Place<Item, Result>[] = [];
  #head = 0;
  #weight = 0;
  #running = 0;
  #unwritten = 0;
  #written = Number.NEGATIVE_INFINITY;
  /** The first and the last of the places that may begin. */
  #ready: Place<Item, Result> | null = null;
  #lastReady: Place<Item, Result> | null = null;
  readonly #lanes = new Map<string, Place<Item, Result>[]>();
  #writing: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;
  #wake: () => void = () => {};

  constructor(work: OrderedWork<Item, Result>) {
    this.#work = work;
    work.signal.addEventListener('abort', () => this.#wake());
  }

  /** False once the run is stopped. */
  admit(item: Item): boolean {
    if (this.#isStopped) return false;
    const weight = this.#work.weight?.(item) ?? 0;
    const place: Place<Item, Result> = { item, state: 'waiting', weight, next: null };
    this.#places.push(place);
    this.#unwritten += 1;
    this.#weight += place.weight;
    const lane = this.#work.lane?.(item) ?? null;
    const queue = lane === null ? undefined : this.#lanes.get(lane);
    if (queue !== undefined) queue.push(place);
    else {
      if (lane !== null) this.#lanes.set(lane, []);
      this.#allow(place);
      this.#begin();
    }
    return true;
  }

  /** Resolves when another item may come. */
  async room(): Promise<void> {
    const { items, weight = Number.POSITIVE_INFINITY } = this.#work.window;
    await this.#until(() => this.#isStopped || (this.#unwritten < items && this.#weight < weight));
  }

  async finished(): Promise<void> {
    await this.#until(() => {
      const isDone = this.#isStopped ? this.#running === 0 : this.#unwritten === 0;
      return (isDone || this.#failure !== null) && this.#running === 0;
    });
    if (this.#failure === null && this.#unwritten > 0) {
      // Items that were not begun leave no gap that the others would wait for.
      while (this.#writing !== null) await this.#writing;
      const left = this.#places.slice(this.#head);
      this.#places = left.filter(({ state }) => typeof state === 'object');
      this.#head = 0;
      this.#flush();
    }
    while (this.#writing !== null) await this.#writing;
    if (this.#failure !== null) throw this.#failure.error;
  }

  get #isStopped(): boolean {
    return this.#failure !== null || this.#work.signal.aborted;
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #allow(place: Place<Item, Result>): void {
    if (this.#lastReady === null) this.#ready = place;
    else this.#lastReady.next = place;
    this.#lastReady = place;
  }

  #begin(): void {
    while (!this.#isStopped && this.#running < this.#work.concurrency) {
      const place = this.#ready;
      if (place === null) break;
      this.#ready = place.next;
      if (place.next === null) this.#lastReady = null;
      this.#running += 1;
      place.state = 'running';
      void this.#work.run(place.item).then((result) => this.#end(place, result));
    }
  }

  #end(place: Place<Item, Result>, result: Result): void {
    this.#running -= 1;
    place.state = { result };
    const more = this.#work.weightOf?.(result) ?? 0;
    place.weight += more;
    this.#weight += more;
    const lane = this.#work.lane?.(place.item) ?? null;
    const queue = lane === null ? undefined : this.#lanes.get(lane);
    const next = queue?.shift();
    if (next !== undefined) this.#allow(next);
    else if (lane !== null) this.#lanes.delete(lane);
    this.#begin();
    this.#flush();
    this.#wake();
  }

  /** Gives the writer the results that are next in order, until there are none. */
  #flush(): void {
    if (this.#writing !== null || this.#failure !== null) return;
    if (typeof this.#places[this.#head]?.state !== 'object') return;
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
      // Results of the same turn of the event loop, or of the same moment, are one write: each costs a system call.
      const left = this.#written + (this.#work.gatherMs ?? 0) - performance.now();
      if (left > 0 && this.#running > 0) await delay(left);
      else await yieldToEventLoop();
      const results: Result[] = [];
      let weight = 0;
      for (let place = this.#places[this.#head]; place !== undefined; place = this.#places[this.#head]) {
        if (typeof place.state !== 'object') break;
        results.push(place.state.result);
        weight += place.weight;
        this.#head += 1;
      }
      if (results.length === 0) return;
      this.#places = this.#places.slice(this.#head);
      this.#head = 0;
      await this.#work.write(results);
      this.#written = performance.now();
      this.#unwritten -= results.length;
      this.#weight -= weight;
      this.#wake();
    }
  }
}
