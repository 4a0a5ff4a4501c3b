// Sends the calls of one kind that wait at the same moment as one statement, and so as one commit. While two statements of the kind run,
// new calls gather in the next group. A busier database therefore gets larger groups.
import { isKeyTaken, isOfOneCall } from './postgres-errors.ts';

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface GroupOptions<Item, Result> {
  /** Sends a group. The results have the order of the items. */
  readonly send: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Two items with the same place are never in one group. Null for an item that conflicts with no other. */
  readonly placeOf: (item: Item) => string | null;
  /** The length of an item's texts in UTF-16 units. */
  readonly lengthOf?: (item: Item) => number;
}

const largestGroup = 500;
/** The limit for the texts of a group, in UTF-16 units, so that many long messages do not fill the memory. */
const longestTexts = 4 * 1024 * 1024;
const maxInFlight = 2;

export class Groups<Item, Result> {
  readonly #options: GroupOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #inFlight = 0;
  #isScheduled = false;

  constructor(options: GroupOptions<Item, Result>) {
    this.#options = options;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** Sends the next group in the next turn of the event loop, so that requests that have already arrived join it. */
  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= maxInFlight) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#sendNext();
    });
  }

  async #sendNext(): Promise<void> {
    const group = this.#nextGroup();
    if (group.length === 0) return;
    this.#inFlight += 1;
    try {
      await this.#settle(group);
    } finally {
      this.#inFlight -= 1;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }

  #nextGroup(): readonly Waiting<Item, Result>[] {
    const group: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    const places = new Set<string>();
    let length = 0;
    for (const waiting of this.#waiting) {
      const { placeOf, lengthOf } = this.#options;
      const place = placeOf(waiting.item);
      const meets = place !== null && places.has(place);
      if (meets || group.length >= largestGroup || length > longestTexts) left.push(waiting);
      else {
        group.push(waiting);
        length += lengthOf?.(waiting.item) ?? 0;
      }
      if (place !== null) places.add(place);
    }
    this.#waiting = left;
    return group;
  }

  async #settle(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.send(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result);
    } catch (error) {
      const isRace = isKeyTaken(error);
      if (!isRace && (group.length === 1 || !isOfOneCall(error))) {
        for (const { reject } of group) reject(error);
        return;
      }
      // Each call is sent again alone, so that each gets its own result. A call whose key was used meanwhile finds the stored result.
      for (const one of group) await this.#settle([one]);
    }
  }
}
