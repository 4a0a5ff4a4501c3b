// The long form of endless.test.ts: 100,000 characters of every shape, and how time grows with them.
import { describe, expect, test } from 'vitest';
import { endlessTexts, prose } from './endless-texts.ts';
import { costOf, leastCostOf } from './rendering-cost.ts';

const length = 100_000;

describe(`of ${length.toLocaleString('en')} characters in one piece`, () => {
  test.each(Object.keys(endlessTexts))(
    '%s takes linear time and never holds the event loop',
    async (name) => {
      const text = endlessTexts[name] ?? prose;
      const floor = (await costOf(prose(length))).total;
      const quarter = await leastCostOf(text(length / 4), undefined, 2);
      const { total, longest } = await costOf(text(length));
      process.stdout.write(
        `${name}: ${Math.round(total)} ms, longest stretch ${Math.round(longest)} ms, prose ${Math.round(floor)} ms\n`,
      );
      expect(total).toBeLessThan(8 * quarter + floor);
      // Prose of this length takes about a tenth of a second.
      expect(longest).toBeLessThan(Math.max(100, floor));
    },
  );
});
