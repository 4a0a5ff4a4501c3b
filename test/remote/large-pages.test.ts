// Pages that exceed the size limit of a response: fewer messages are requested, and the reading continues.
import { expect, it, onTestFinished } from 'vitest';
import { callWith, failureOf } from '../support/calls.ts';
import { openRemote } from '../support/remote.ts';
import { serve } from '../support/scripted-server.ts';

const message = (position: number) => ({
  message_id: `m${position}`,
  position,
  role: 'user',
  content: 'x',
  mode: 'echo',
  finish_reason: null,
  usage: null,
  created_at: '2024-05-01T12:00:00.000Z',
});
const tooMuch = Buffer.alloc(65 * 1024 * 1024, ' ');

/** A server that returns at most this many messages. A larger page exceeds the limit of every client. */
async function serverOf(maxPage: number) {
  const limits: number[] = [];
  const server = await serve((request, response) => {
    const query = new URL(request.path, 'http://a').searchParams;
    const limit = Number(query.get('limit'));
    limits.push(limit);
    if (limit > maxPage) return void response.end(tooMuch);
    const items = Array.from({ length: limit }, (_, at) => message(at + Number(query.get('cursor'))));
    response.end(JSON.stringify({ success: true, data: { items, next_cursor: String(limit) } }));
  });
  const { backend } = await openRemote(server.url);
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  return { archive: backend.archive, limits };
}

it('a page that is too large is requested with half as many messages, and so are the next ones', async () => {
  const { archive, limits } = await serverOf(100);
  const call = callWith('k');
  const { data } = await archive.listMessages(call, 's', { limit: 200, cursor: null });
  expect(data.items).toHaveLength(100);
  await archive.listMessages(call, 's', { limit: 200, cursor: data.next_cursor });
  await archive.listMessages(call, 's', { limit: 7, cursor: null });
  expect(limits).toEqual([200, 100, 100, 7]);
});

it('other sessions, and the next listing of the session, begin with the requested number', async () => {
  const { archive, limits } = await serverOf(100);
  const call = callWith('k');
  const { data } = await archive.listMessages(call, 's', { limit: 200, cursor: null });
  await archive.listMessages(call, 'other', { limit: 150, cursor: null });
  await archive.listMessages(call, 's', { limit: 200, cursor: data.next_cursor });
  await archive.listMessages(call, 's', { limit: 200, cursor: null });
  expect(limits).toEqual([200, 100, 150, 75, 100, 200, 100]);
});

it('a single message that is too large is an error', async () => {
  const { archive, limits } = await serverOf(0);
  const error = await failureOf(archive.listMessages(callWith('k'), 's', { limit: 2, cursor: null }));
  expect([error.code, error.message]).toEqual([
    'BAD_RESPONSE',
    'The response is larger than 67108864 bytes.',
  ]);
  expect(limits).toEqual([2, 1]);
});
