// How many messages fit on a page.
import { expect, it } from 'vitest';
import { pageBytes } from '../../src/service/limits.ts';
import { PageBudget } from '../../src/store/page-budget.ts';

/** How many messages with this text have room. */
function taken(text: string, least: number): number {
  const budget = new PageBudget(least);
  let count = 0;
  while (budget.take(text)) count += 1;
  return count;
}

it.each(['x', '"', '\\', '\n', '\u0001', '\u001f', '\u007f', 'é', '☃', '🦊'])(
  'messages of %j fill a page of JSON nearly to its limit, and never exceed it',
  (character) => {
    const text = character.repeat(100_000);
    const bytes = Buffer.byteLength(JSON.stringify(text)) + 512;
    expect(taken(text, 0)).toBe(Math.floor((pageBytes + taken(text, 0) * 2) / bytes));
  },
);

it.each([1, 2])('%i messages are accepted, whatever their length', (least) => {
  expect(taken('x'.repeat(pageBytes), least)).toBe(least);
});
