// Modes that are refreshed before each call, in a place that may not respond.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { followedModes } from '../../src/compose/followed-modes.ts';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import { callWith, collect, say } from '../support/calls.ts';
import { newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';

let backend: EmbeddedBackend;
let key: string;
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
  backend = await openEmbedded(directory.path);
  key = await newKey(backend, 'p');
});
afterAll(async () => {
  await backend.close();
  await directory.remove();
});

test('a caller that stops waiting is not delayed by a place that does not respond', async () => {
  const { service } = followedModes(backend, { refresh: () => new Promise(() => {}) }, async () => {});
  const stop = new AbortController();
  const call = callWith(key, { signal: stop.signal });
  const calls = [say(service, call, 'Hi'), service.models(call)];
  stop.abort(new Error('stopped'));
  for (const one of calls) await expect(one).rejects.toThrow('stopped');
});

test('where they cannot be read, a chat continues with the last known ones, and the next refresh applies newer ones', async () => {
  const results = [true, new Error('away'), false];
  let reloads = 0;
  const refresh = async () => {
    const result = results.shift() ?? false;
    if (result instanceof Error) throw result;
    return result;
  };
  const { service, archive } = followedModes(backend, { refresh }, async () => {
    reloads += 1;
    if (reloads === 1) throw new Error('not read');
  });
  for (let turns = 0; turns < 2; turns += 1)
    expect((await say(service, callWith(key), 'Hi')).reply).toBe('Hi');
  expect(reloads).toBe(1);
  await service.models(callWith(key));
  await service.models(callWith(key));
  expect(reloads).toBe(2);
  // Another reply to a message asks an engine too.
  results.push(true);
  const { session_id } = await say(service, callWith(key), 'Hi');
  results.push(true);
  await collect(archive.regenerate(callWith(key), session_id, {}, 'whole'));
  expect(reloads).toBe(4);
});
