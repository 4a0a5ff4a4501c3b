// A printed command that continues the current one.
import { expect, test } from 'vitest';
import { commandAtTarget } from '../../../src/cli/commands/sessions/batch.ts';

const nowhere = {
  profile: null,
  url: null,
  insecureHttp: false,
  store: null,
  insecureStore: false,
  ca: null,
};

test('a printed command that continues this one works in the same place', () => {
  const words = 'sessions delete --resume 1';
  expect(commandAtTarget(words, nowhere)).toBe('parley sessions delete --resume 1');
  expect(commandAtTarget(words, { ...nowhere, profile: 'work' })).toBe(`parley ${words} --profile work`);
  const url = 'http://[fd00::1]:8787';
  expect(
    commandAtTarget(words, {
      ...nowhere,
      url,
      insecureHttp: true,
      store: null,
      insecureStore: false,
      ca: 'our ca.pem',
    }),
  ).toBe(`parley ${words} --url '${url}' --insecure-http --ca 'our ca.pem'`);
});
