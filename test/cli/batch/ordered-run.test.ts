// Work that runs concurrently, with results in the order of the input.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type OrderedWork, runInOrder } from '../../../src/cli/batch/ordered-run.ts';
import { runs } from '../../support/runs.ts';

interface Item {
  readonly number: number;
  readonly lane: string | null;
}

const items = fc
  .array(fc.constantFrom(null, null, 'a', 'b'), { maxLength: 40 })
  .map((lanes) => lanes.map((lane, number): Item => ({ number, lane })));

async function* given<T>(list: readonly T[]): AsyncGenerator<T> {
  yield* list;
}

function workOf(more: Partial<OrderedWork<Item, number>>): OrderedWork<Item, number> {
  return {
    concurrency: 4,
    window: { items: 1000, weight: Number.POSITIVE_INFINITY },
    signal: new AbortController().signal,
    gatherMs: 0,
    lane: ({ lane }) => lane,
    weight: () => 0,
    weightOf: () => 0,
    run: async ({ number }) => number,
    write: async () => {},
    ...more,
  };
}

describe('work in order', () => {
  test('writes each result once, in order, whichever ends first, and never exceeds its concurrency, nor runs two of a lane at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        items,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 9 }),
        async (scheduler, list, concurrency, window) => {
          const written: number[] = [];
          const begun: Item[] = [];
          const running = new Set<Item>();
          let taken = 0;
          async function* counted() {
            for (const item of list) {
              taken += 1;
              expect(taken - written.length).toBeLessThanOrEqual(window + 1);
              yield item;
            }
          }
          const done = runInOrder(
            counted(),
            workOf({
              concurrency,
              window: { items: window, weight: Number.POSITIVE_INFINITY },
              async run(item) {
                expect(running.size).toBeLessThan(concurrency);
                expect([...running].some(({ lane }) => lane !== null && lane === item.lane)).toBe(false);
                running.add(item);
                begun.push(item);
                await scheduler.schedule(Promise.resolve(), `run ${item.number}`);
                running.delete(item);
                return item.number;
              },
              async write(results) {
                await scheduler.schedule(Promise.resolve(), 'write');
                written.push(...results);
              },
            }),
          );
          await scheduler.waitFor(done);
          expect(written).toEqual(list.map(({ number }) => number));
          for (const lane of ['a', 'b']) {
            const numbers = begun.filter((item) => item.lane === lane).map(({ number }) => number);
            expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
          }
        },
      ),
      { numRuns: runs(60, 1_500) },
    );
  });

  test('after a stop starts nothing more, and writes the results of the started work, in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), items, fc.nat(20), async (scheduler, list, after) => {
        const stop = new AbortController();
        const begun: number[] = [];
        const written: number[] = [];
        const done = runInOrder(
          given(list),
          workOf({
            signal: stop.signal,
            async run({ number }) {
              expect(stop.signal.aborted).toBe(false);
              begun.push(number);
              if (begun.length === after) stop.abort();
              await scheduler.schedule(Promise.resolve(), `run ${number}`);
              return number;
            },
            async write(results) {
              await scheduler.schedule(Promise.resolve(), 'write');
              written.push(...results);
            },
          }),
        );
        await scheduler.waitFor(done);
        expect(written).toEqual(begun.toSorted((one, other) => one - other));
      }),
      { numRuns: runs(60, 1_500) },
    );
  });

  test('reads no item before all permitted work has started, so a long list is not copied into memory', async () => {
    let taken = 0;
    let begun = 0;
    function* list() {
      for (let number = 0; number < 100; number++) {
        taken += 1;
        yield { number, lane: null };
      }
    }
    await runInOrder(
      list(),
      workOf({
        async run({ number }) {
          begun += 1;
          await new Promise((resolve) => setImmediate(resolve));
          expect(taken).toBeLessThanOrEqual(begun + 1);
          return number;
        },
      }),
    );
    expect(begun).toBe(100);
  });

  test('reads no more items than fit into the window', async () => {
    let taken = 0;
    async function* endless() {
      for (;;) {
        taken += 1;
        yield { number: taken, lane: null };
      }
    }
    const stop = new AbortController();
    const done = runInOrder(
      endless(),
      workOf({
        window: { items: 1000, weight: 50 },
        signal: stop.signal,
        weight: () => 10,
        run: ({ number }) =>
          new Promise((resolve) => stop.signal.addEventListener('abort', () => resolve(number))),
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(taken).toBe(5);
    stop.abort();
    await done;
  });

  test('fails with the error of the writer, when nothing runs any more', async () => {
    const list = Array.from({ length: 10 }, (_, number) => ({ number, lane: null }));
    let running = 0;
    const work = workOf({
      async run({ number }) {
        running += 1;
        await new Promise((resolve) => setTimeout(resolve, number));
        running -= 1;
        return number;
      },
      write: () => Promise.reject(new Error('no room')),
    });
    await expect(runInOrder(given(list), work)).rejects.toThrow('no room');
    expect(running).toBe(0);
  });

  test('fails with the error of the source, after the results of the items before it', async () => {
    async function* broken() {
      yield* [0, 1, 2].map((number) => ({ number, lane: null }));
      throw new Error('no more');
    }
    const written: number[] = [];
    const work = workOf({ write: async (results) => void written.push(...results) });
    await expect(runInOrder(broken(), work)).rejects.toThrow('no more');
    expect(written).toEqual([0, 1, 2]);
  });
});
