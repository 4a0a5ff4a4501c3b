// Another program holds the store when a reply ends: the reply stays in memory and waits for the store.
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { ChatEvent } from '../../src/service/chat-event.ts';
import { callWith, collect } from '../support/calls.ts';
import { newKey, openEmbedded } from '../support/embedded.ts';
import { RawDatabase } from '../support/raw-database.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A chat whose message is stored and whose reply finds the store locked; `ended` resolves when it has succeeded or failed. */
async function chatAtLockedStore() {
  const directory = temporaryDirectory();
  const notices: string[] = [];
  const say = async (line: string) => void notices.push(line);
  const backend = await openEmbedded(directory, { say, lockWaitMs: 100 });
  onTestFinished(() => backend.close());
  const apiKey = await newKey(backend, 'first');
  const chat = backend.service.chat(
    callWith(apiKey),
    { mode: 'echo', message: 'hello', session_id: null },
    'chunks',
  );
  const events = chat[Symbol.asyncIterator]();
  const first = (await events.next()).value as ChatEvent;
  const holder = new RawDatabase(join(directory, 'parley.db'));
  holder.exec('BEGIN IMMEDIATE');
  onTestFinished(() => void holder.close());
  let ended: unknown = null;
  collect({ [Symbol.asyncIterator]: () => events }).then(
    (rest) => {
      ended = rest.at(-1);
    },
    (error: unknown) => {
      ended = error;
    },
  );
  const messages = async () => {
    const { session_id } = first.data as { session_id: string };
    const page = { limit: 10, cursor: null };
    const { data } = await backend.archive.listMessages(callWith(apiKey), session_id, page);
    return data.items.map(({ content, finish_reason }) => [content, finish_reason]);
  };
  return { notices, holder, messages, ended: () => ended };
}

/** Waits this many seconds, in the steps of a wait for a lock. */
async function pass(seconds: number): Promise<void> {
  for (let ms = 0; ms < seconds * 1000; ms += 50) {
    await vi.advanceTimersByTimeAsync(50);
    await turn();
  }
}

it('a reply waits for a store that is locked for 50 s, is stored, and the wait is reported once', async () => {
  const { notices, holder, messages, ended } = await chatAtLockedStore();
  await pass(1);
  expect(notices).toEqual([]);
  await pass(49);
  expect(ended()).toBeNull();
  expect(notices).toEqual([expect.stringMatching(/does not answer: the reply waits for it/)]);
  holder.exec('ROLLBACK');
  await pass(1);
  expect(ended()).toMatchObject({ event: 'done' });
  expect(await messages()).toEqual([
    ['hello', null],
    ['hello', 'stop'],
  ]);
});

it('a reply that could not be stored for a minute is reported as lost', async () => {
  const { holder, messages, ended } = await chatAtLockedStore();
  await pass(65);
  expect(ended()).toMatchObject({
    code: 'STORE_BUSY',
    hint: expect.stringContaining('the reply is not'),
  });
  holder.exec('ROLLBACK');
  expect(await messages()).toEqual([['hello', null]]);
});
