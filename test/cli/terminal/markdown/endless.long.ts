// The long form of endless.test.ts: 100,000 characters of every shape take at most 8 times as long as 25,000, and block the event loop for at most
// 100 ms at a time. It takes about two minutes of one core.
import { describe, expect, test } from 'vitest';
import { endlessTexts, prose } from './endless-texts.ts';
import { costOf, minCostOf } from './rendering-cost.ts';

const length = 100_000;

describe(`of ${length.toLocaleString('en')} characters in one piece`, () => {
  test.each(Object.keys(endlessTexts))(
    '%s takes linear time and never holds the event loop',
    async (name) => {
      const text = endlessTexts[name] ?? prose;
      const floor = (await costOf(prose(length))).total;
      const quarter = await minCostOf(text(length / 4), undefined, 2);
      const first = await costOf(text(length));
      const { total } = first;
      let { longest } = first;
      // Prose of this length takes about a tenth of a second.
      const limit = Math.max(100, floor);
      // A delay by another program does not occur each time.
      for (let tries = 0; tries < 3 && longest >= limit; tries++)
        longest = Math.min(longest, (await costOf(text(length))).longest);
      process.stdout.write(
        `${name}: ${Math.round(total)} ms, longest stretch ${Math.round(longest)} ms, prose ${Math.round(floor)} ms\n`,
      );
      expect(total).toBeLessThan(8 * quarter + floor);
      expect(longest).toBeLessThan(limit);
    },
  );
});
