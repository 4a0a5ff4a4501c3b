// The body of a streamed reply that is stopped at the moment when an event of the turn arrives.
import { expect, it } from 'vitest';
import { ChatStream } from '../../src/server/chat-stream.ts';
import { ClientDisconnected } from '../../src/server/client-disconnected.ts';
import type { ChatEvent } from '../../src/service/chat-event.ts';

it('a reply that is stopped after its event was made, and before the stream has it, is ended', async () => {
  const start = {
    event: 'session',
    data: { session_id: 'ses_1', message_id: 'msg_1', mode: 'test' },
  } as const;
  let arrive = (_event: IteratorResult<ChatEvent>) => {};
  let isReturned = false;
  const events: AsyncIterator<ChatEvent> = {
    next: () => new Promise((resolve) => (arrive = resolve)),
    async return() {
      isReturned = true;
      return { done: true, value: undefined };
    },
  };
  const controller = new AbortController();
  const ends: unknown[] = [];
  const reply = { signal: controller.signal, clientDisconnected() {}, stop() {}, end() {} };
  const stream = new ChatStream(start, events, reply, {
    requestId: 'req_1',
    heartbeatMs: 60_000,
    onDone() {},
    onEnd: (error) => ends.push(error),
  });
  await stream.read();
  const second = stream.read();
  await new Promise((resolve) => setImmediate(resolve));
  arrive({ done: false, value: { event: 'delta', data: { text: 'half' } } });
  controller.abort(new ClientDisconnected());
  await second;
  await expect.poll(() => ends.length).toBe(1);
  expect(isReturned).toBe(true);
  stream.cancel();
});
