// Calls of one kind that wait at the same moment go to the database as one statement, and so as one commit. While two statements of a
// kind are on their way, the calls that come make the next group: the busier the database, the larger the groups.
import { isKeyTaken, isOfOneCall } from './postgres-errors.ts';

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupOptions<Item, Result> {
  /** The results in the order of the items. */
  readonly send: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Two items of one place never share a statement; null for an item that meets no other. */
  readonly placeOf: (item: Item) => string | null;
  /** UTF-16 units of its texts. */
  readonly lengthOf?: (item: Item) => number;
}

const largestGroup = 500;
/** One statement must not hold the memory of many long messages. */
const longestTexts = 4 * 1024 * 1024;
const inFlightMost = 2;

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

  /** Every request that has already arrived gets to add its call before the group is closed. */
  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= inFlightMost) return;
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
      // Each call learns of its own fate; whose key was used meanwhile finds what it did.
      for (const one of group) await this.#settle([one]);
    }
  }
}
