// Items that arrive together are returned as a group, and a slow source delays none.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { groupedItems } from '../../../src/cli/batch/grouped-items.ts';

/** Yields the items, and records what happened before each. There is a macrotask between two of them. */
async function* slowly(items: readonly number[], happened: string[], pauseAt?: [number, Promise<void>]) {
  for (const item of items) {
    await new Promise(setImmediate);
    if (pauseAt?.[0] === item) await pauseAt[1];
    happened.push(`read ${item}`);
    yield item;
  }
}

const limits = { items: 3, weight: 100, weightOf: (item: number) => item, waitMs: 5000 };

test('items are returned in groups of the largest permitted size, in their order', async () => {
  const happened: string[] = [];
  for await (const item of groupedItems(slowly([1, 2, 3, 4, 5], happened), limits))
    happened.push(`took ${item}`);
  expect(happened.filter((what) => what.startsWith('took'))).toEqual([1, 2, 3, 4, 5].map((n) => `took ${n}`));
  expect(happened.indexOf('took 1')).toBeGreaterThan(happened.indexOf('read 3'));
  expect(happened.slice(-2)).toEqual(['took 4', 'took 5']);
});

test('a heavy item ends its group', async () => {
  const happened: string[] = [];
  for await (const item of groupedItems(slowly([1, 200, 3], happened), limits)) happened.push(`took ${item}`);
  expect(happened.indexOf('took 200')).toBeLessThan(happened.indexOf('took 3'));
  expect(happened.indexOf('took 1')).toBeGreaterThan(happened.indexOf('read 200'));
});

test('an item of a source that pauses is returned, and the rest when it arrives', async () => {
  const happened: string[] = [];
  let goOn = () => {};
  const pause = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  for await (const item of groupedItems(slowly([1, 2], happened, [2, pause]), { ...limits, waitMs: 1 })) {
    happened.push(`took ${item}`);
    goOn();
  }
  expect(happened).toEqual(['read 1', 'took 1', 'read 2', 'took 2']);
});

test('a failure of the source comes after the items before it, and the source is closed when the reader stops', async () => {
  const took: number[] = [];
  async function* failing() {
    yield 1;
    throw new Error('broken');
  }
  const read = async () => {
    for await (const item of groupedItems(failing(), limits)) took.push(item);
  };
  await expect(read()).rejects.toThrow('broken');
  expect(took).toEqual([1]);

  let isClosed = false;
  async function* closing() {
    try {
      for (let item = 1; ; item += 1) yield item;
    } finally {
      await delay(0);
      isClosed = true;
    }
  }
  for await (const _ of groupedItems(closing(), limits)) break;
  expect(isClosed).toBe(true);
});
