// Many pieces of work at once, their results in the order of the work. What is under way, and what waits for a slower one before it,
// is bounded: then no more work is taken in. Knows nothing of what the work is.
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';

export interface OrderedWork<Item, Result> {
  /** How much may run at a time. */
  readonly concurrency: number;
  /** How much may be taken in and not written yet: pieces, and what they weigh together (one alone may weigh more). */
  readonly window: { readonly items: number; readonly weight: number };
  /** Stops it: nothing more is taken in or begun, and what was done is written. */
  readonly signal: AbortSignal;
  /** Items of one lane run one after the other, in their order; null for an item that waits for none. */
  lane(item: Item): string | null;
  weight(item: Item): number;
  weightOf(result: Result): number;
  /** Must not reject. */
  run(item: Item): Promise<Result>;
  /** Called with what is next in order, one call at a time. When it rejects, so does the whole. */
  write(results: readonly Result[]): Promise<void>;
}

interface Place<Item, Result> {
  readonly item: Item;
  state: 'waiting' | 'running' | { readonly result: Result };
  weight: number;
}

/** Resolves when all is written: of all items or, once the signal fired, of all that were begun. Rejects if the items do. */
export async function runInOrder<Item, Result>(
  items: AsyncIterable<Item>,
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
  /** In the order of the items; those before `#head` are written, or given to the writer. */
  #places: Place<Item, Result>[] = [];
  #head = 0;
  #weight = 0;
  #running = 0;
  #unwritten = 0;
  readonly #ready: Place<Item, Result>[] = [];
  #nextReady = 0;
  readonly #lanes = new Map<string, Place<Item, Result>[]>();
  #writing: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;
  #wake: () => void = () => {};

  constructor(work: OrderedWork<Item, Result>) {
    this.#work = work;
    work.signal.addEventListener('abort', () => this.#wake());
  }

  /** False once it is stopped. */
  admit(item: Item): boolean {
    if (this.#isStopped) return false;
    const place: Place<Item, Result> = { item, state: 'waiting', weight: this.#work.weight(item) };
    this.#places.push(place);
    this.#unwritten += 1;
    this.#weight += place.weight;
    const lane = this.#work.lane(item);
    const queue = lane === null ? undefined : this.#lanes.get(lane);
    if (queue !== undefined) queue.push(place);
    else {
      if (lane !== null) this.#lanes.set(lane, []);
      this.#ready.push(place);
      this.#begin();
    }
    return true;
  }

  /** Resolves when another item may come. */
  async room(): Promise<void> {
    const { items, weight } = this.#work.window;
    await this.#until(() => this.#isStopped || (this.#unwritten < items && this.#weight < weight));
  }

  async finished(): Promise<void> {
    await this.#until(() => {
      const isDone = this.#isStopped ? this.#running === 0 : this.#unwritten === 0;
      return (isDone || this.#failure !== null) && this.#running === 0;
    });
    if (this.#failure === null && this.#unwritten > 0) {
      // Stopped: what was begun is written, past what was not.
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

  #begin(): void {
    while (!this.#isStopped && this.#running < this.#work.concurrency) {
      const place = this.#ready[this.#nextReady];
      if (place === undefined) break;
      this.#nextReady += 1;
      this.#running += 1;
      place.state = 'running';
      void this.#work.run(place.item).then((result) => this.#end(place, result));
    }
    if (this.#nextReady > 1024 && this.#nextReady * 2 > this.#ready.length) {
      this.#ready.splice(0, this.#nextReady);
      this.#nextReady = 0;
    }
  }

  #end(place: Place<Item, Result>, result: Result): void {
    this.#running -= 1;
    place.state = { result };
    const more = this.#work.weightOf(result);
    place.weight += more;
    this.#weight += more;
    const lane = this.#work.lane(place.item);
    const queue = lane === null ? undefined : this.#lanes.get(lane);
    const next = queue?.shift();
    if (next !== undefined) this.#ready.push(next);
    else if (lane !== null) this.#lanes.delete(lane);
    this.#begin();
    this.#flush();
    this.#wake();
  }

  /** Gives the writer all that is next in order, again and again until there is nothing. */
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
      // What comes in the same turn of the event loop is written at once, and not each with a call of the system of its own.
      await yieldToEventLoop();
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
      this.#unwritten -= results.length;
      this.#weight -= weight;
      this.#wake();
    }
  }
}
