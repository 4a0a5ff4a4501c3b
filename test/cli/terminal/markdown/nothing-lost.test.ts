// Every word of a reply is shown, once and in its place, in any Markdown.
import fc from 'fast-check';
import { test } from 'vitest';
import { everyWordIsShownOnce } from './properties.ts';

test('no word of a random document is lost, duplicated or moved', () =>
  fc.assert(everyWordIsShownOnce, { numRuns: 50 }));
