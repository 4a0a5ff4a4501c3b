// Collects items into groups and yields each group at once, because a store commits together what starts at the same time.
import { setTimeout as delay } from 'node:timers/promises';

interface GroupLimits<Item> {
  /** The most items of a group, and their total weight. A single item may weigh more. */
  readonly items: number;
  readonly weight: number;
  weightOf(item: Item): number;
  /** How long (ms) an item waits for others. */
  readonly waitMs: number;
}

/** Yields all items before a failure of the source, then throws it. */
export async function* groupedItems<Item>(
  items: AsyncIterable<Item>,
  limits: GroupLimits<Item>,
): AsyncGenerator<Item, void> {
  const iterator = items[Symbol.asyncIterator]();
  let next: Promise<Arrival<Item>> = arrivalOf(iterator);
  let isOver = false;
  try {
    while (!isOver) {
      const group: Item[] = [];
      let weight = 0;
      const timer = new AbortController();
      let timeout: Promise<null> | null = null;
      let failure: { readonly error: unknown } | null = null;
      while (group.length < limits.items && weight < limits.weight) {
        if (group.length > 0) timeout ??= timeOut(limits.waitMs, timer.signal);
        const arrival = timeout === null ? await next : await Promise.race([next, timeout]);
        if (arrival === null) break;
        isOver = !('item' in arrival);
        if ('error' in arrival) failure = arrival;
        if (!('item' in arrival)) break;
        group.push(arrival.item);
        weight += limits.weightOf(arrival.item);
        next = arrivalOf(iterator);
      }
      timer.abort();
      yield* group;
      if (failure !== null) throw failure.error;
    }
  } finally {
    await iterator.return?.();
  }
}

type Arrival<Item> = { readonly item: Item } | { readonly error: unknown } | { readonly isEnd: true };

/** Never rejects, so that a failure is thrown only after the items before it. */
async function arrivalOf<Item>(iterator: AsyncIterator<Item>): Promise<Arrival<Item>> {
  try {
    const { done, value } = await iterator.next();
    return done === true ? { isEnd: true } : { item: value };
  } catch (error) {
    return { error };
  }
}

function timeOut(milliseconds: number, signal: AbortSignal): Promise<null> {
  return delay(milliseconds, null, { signal }).catch(() => null);
}
