// The values that an import takes from a file: a value that would need much more memory than its bytes is not parsed.
import { expect, test } from 'vitest';
import { importLimits } from '../../../src/cli/imports/import-limits.ts';
import { parsedItem } from '../../../src/cli/imports/json-items.ts';

test('a conversation of more values than the limit is refused by the number', () => {
  const item = parsedItem('item 1', Buffer.from(`[${'0,'.repeat(importLimits.values)}0]`));
  expect(item.value).toBeUndefined();
  expect(item.failure?.message).toBe(
    'The data at item 1 has more than 5000000 values, the limit of a conversation.',
  );
});

test('a long text is one value, whatever it contains', () => {
  const text = `,{[\\"`.repeat(importLimits.values / 4);
  expect(parsedItem('item 1', Buffer.from(JSON.stringify([text]))).value).toEqual([text]);
});
