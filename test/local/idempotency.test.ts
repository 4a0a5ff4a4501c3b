// How long an idempotency key is kept: for its time it repeats an answer, afterwards it is free, and nothing of it is left.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultLimits } from '../../src/service/limits.ts';
import { callWith, collect } from '../support/calls.ts';
import { newKey, openEmbedded } from '../support/embedded.ts';
import { lookInto } from '../support/raw-database.ts';
import { temporaryDirectory } from '../support/test-store.ts';

test('a key repeats its answer for a day; then it is free for another request, and is erased', async () => {
  const directory = temporaryDirectory();
  const clock = { now: Date.parse('2024-05-01T12:00:00Z') };
  const home = await openEmbedded(directory, { now: () => clock.now });
  const apiKey = await newKey(home, 'first');
  const create = async (idempotencyKey: string, title: string) =>
    (await home.service.createSession(callWith(apiKey, { idempotencyKey }), { title })).data.session_id;
  const chat = (message: string) =>
    collect(
      home.service.chat(
        callWith(apiKey, { idempotencyKey: 'chat' }),
        { mode: 'echo', message, session_id: null },
        'pieces',
      ),
    );
  const first = await create('key', 'one');
  await chat('hello');
  clock.now += defaultLimits.idempotencyMs;
  expect(await create('key', 'one')).toBe(first);
  await expect(create('key', 'two')).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  await expect(chat('other')).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  clock.now += 1;
  const second = await create('key', 'two');
  expect(second).not.toBe(first);
  expect(await create('key', 'two')).toBe(second);
  expect((await chat('other')).at(-1)).toMatchObject({ event: 'done' });
  clock.now += defaultLimits.idempotencyMs + 1;
  await create('last', 'three');
  await home.close();
  const kept = lookInto(join(directory, 'parley.db'), (database) =>
    database.prepare('SELECT key FROM idempotency').pluck().all(),
  );
  expect(kept).toEqual(['last']);
});
