// The output of fields, one per line.
import { expect, test } from 'vitest';
import { fieldLines } from '../../../src/cli/terminal/fields.ts';

test('no value and no name of a field looks like a field of its own', () => {
  const record = {
    name: 'a\nkey_id: forged',
    'odd\nkey_id': { inner: 'x\r\nparley: Password: ' },
    none: null,
  };
  expect(fieldLines(record)).toBe(
    'name: a\n  key_id: forged\nodd key_id.inner: x\n  parley: Password: \nnone: \n',
  );
});
