// The advice of `parley setup` if the server that the user named lists no models.
import { expect, test } from 'vitest';
import { nothingFound } from '../../../src/cli/commands/setup/nothing-found.ts';

test.each([
  [null, 'Check the network and the address, then'],
  ['env:KEY', 'Check the network, the address and the key, then'],
])('with the key %j it says what to check', (key, advice) => {
  const server = { name: 'here:1', base_url: 'http://127.0.0.1:1', key };
  const failure = nothingFound([{ server, models: [], problem: null }], [], [server]);
  expect(failure.hint).toContain(advice);
});
