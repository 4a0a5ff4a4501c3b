// A queue that serves its parties in turn.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FairQueue } from '../../../src/store/sqlite/fair-queue.ts';

interface Item {
  readonly party: string;
  readonly number: number;
}

const party = fc.constantFrom('a', 'b', 'c');
const steps = fc.array(
  fc.oneof(party, fc.constantFrom('take' as const, 'take odd' as const, 'put back' as const)),
);

it('keeps each party’s order, loses nothing, and takes no two items of one party while another waits', () => {
  fc.assert(
    fc.property(steps, (chosen) => {
      const queue = new FairQueue<Item>();
      let waiting: Item[] = [];
      for (const [number, step] of chosen.entries()) {
        if (step === 'take') {
          const item = queue.take();
          expect(item).toBe(waiting.find((one) => one.party === item?.party));
          expect(item === undefined).toBe(waiting.length === 0);
          waiting = waiting.filter((one) => one !== item);
        } else if (step === 'take odd') {
          const taken = queue.takeWhere((item) => item.number % 2 === 1);
          expect([...taken].sort(byNumber)).toEqual(waiting.filter((item) => item.number % 2 === 1));
          waiting = waiting.filter((item) => item.number % 2 === 0);
        } else if (step === 'put back') {
          const taken = [queue.take(), queue.take(), queue.take()].filter((item) => item !== undefined);
          queue.putBack(taken);
        } else {
          const item = { party: step, number };
          queue.add(item);
          waiting.push(item);
        }
        expect(queue.length).toBe(waiting.length);
      }
      const last = new Set<string>();
      for (let item = queue.take(); item !== undefined; item = queue.take()) {
        const others = waiting.filter((one) => one.party !== item?.party).map((one) => one.party);
        waiting = waiting.filter((one) => one !== item);
        if (last.has(item.party)) expect(others.every((other) => last.has(other))).toBe(true);
        last.add(item.party);
      }
      expect(waiting).toEqual([]);
    }),
  );
});

function byNumber(one: Item, other: Item): number {
  return one.number - other.number;
}
