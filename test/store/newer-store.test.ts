// Which version the error for a newer store advises.
import { expect, test } from 'vitest';
import { newerStore } from '../../src/store/newer-store.ts';

const facts = { version: 9, newest: 8 };

test.each([
  [
    '0.10.0',
    '0.9.2',
    'Parley 0.10.0 or newer',
    'Parley 0.10.0 or newer (`npm install -g parley-cli@latest`)',
  ],
  ['0.9.2', '0.9.2', 'a later build of Parley 0.9.2', 'that build, or a later one'],
  ['0.9.0', '0.10.0', 'a later build of Parley 0.9.0', 'that build, or a later one'],
  [null, '0.9.2', 'a newer Parley', 'a newer Parley'],
])('for a store of %s, Parley %s names %s', (parleyVersion, own, maker, remedy) => {
  expect(newerStore('here', { ...facts, parleyVersion }, own)).toMatchObject({
    code: 'STORE_NEWER',
    message: `The store here has schema 9, made by ${maker}; this Parley knows schema 8.`,
    hint: `Use ${remedy}. The store was not changed.`,
  });
});
