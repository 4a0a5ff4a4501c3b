// The properties of every reply, with many random texts, and every attack in every place, cut in two anywhere. It takes about two minutes of one
// core.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attacks } from '../attacks.ts';
import { attackedPlaces } from './attacked-places.ts';
import {
  everyWordIsShownOnce,
  hostileTextIsHarmless,
  markdownIsHarmless,
  sameInAnyPieces,
  sameInSingleUnits,
} from './properties.ts';
import { rendered } from './rendering.ts';

describe('for random replies', () => {
  test('any way of cutting gives the same bytes, 10,000 times', () =>
    fc.assert(sameInAnyPieces, { numRuns: 10_000 }));
  test('single units give the same bytes, 2,000 times', () =>
    fc.assert(sameInSingleUnits, { numRuns: 2_000 }));
  test('no word is lost, doubled or moved, 10,000 times', () =>
    fc.assert(everyWordIsShownOnce, { numRuns: 10_000 }));
  test('100,000 hostile texts let through only what may be shown', () =>
    fc.assert(hostileTextIsHarmless, { numRuns: 2_000 }));
  test('Markdown lets through only what may be shown, 3,000 times', () =>
    fc.assert(markdownIsHarmless, { numRuns: 3_000 }));
});

test.each(Object.keys(attacks))('%s is the same in every place, cut in two anywhere', async (name) => {
  for (const place of Object.values(attackedPlaces)) {
    const text = place(attacks[name] ?? '');
    const whole = await rendered([text]);
    for (let cut = 1; cut < text.length; cut++) {
      expect(await rendered([text.slice(0, cut), text.slice(cut)])).toBe(whole);
    }
  }
});
