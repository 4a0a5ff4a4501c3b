// Holds items back until several have come, and then gives them out at one moment: a store commits what is begun at one moment together.
import { setTimeout as delay } from 'node:timers/promises';

export interface GatherLimits<Item> {
  /** The most items of a group, and their total weight. A single item may have more. */
  readonly items: number;
  readonly weight: number;
  weightOf(item: Item): number;
  /** How long (ms) an item waits for others. */
  readonly waitMs: number;
}

const waitedLongEnough = null;

export async function* gathered<Item>(
  items: AsyncIterable<Item>,
  limits: GatherLimits<Item>,
): AsyncGenerator<Item, void> {
  const iterator = items[Symbol.asyncIterator]();
  let held: Item[] = [];
  let weight = 0;
  let timer = new AbortController();
  let timeout: Promise<null> | null = null;
  const wait = () =>
    delay(limits.waitMs, undefined, { signal: timer.signal }).then(
      () => waitedLongEnough,
      () => waitedLongEnough,
    );
  try {
    let next = iterator.next();
    for (;;) {
      // A failure is told by the await below, also if it comes while a group is given out.
      next.catch(() => {});
      if (held.length > 0) timeout ??= wait();
      const arrived = timeout === null ? await next : await Promise.race([next, timeout]);
      if (arrived !== waitedLongEnough) {
        if (arrived.done === true) break;
        held.push(arrived.value);
        weight += limits.weightOf(arrived.value);
        next = iterator.next();
        if (held.length < limits.items && weight < limits.weight) continue;
      }
      timer.abort();
      timer = new AbortController();
      timeout = null;
      const group = held;
      held = [];
      weight = 0;
      yield* group;
    }
    yield* held;
  } finally {
    timer.abort();
    await iterator.return?.();
  }
}
