// A session is read into memory as a whole, so its size is limited, whatever a server sends.
import { expect, test } from 'vitest';
import type { CliContext } from '../../../src/cli/context.ts';
import { readSession } from '../../../src/cli/transcripts/session-reading.ts';

/** A server that reports this many messages for a session, and whose pages never end. */
function serverOf(messageCount: number, content: string) {
  let requests = 0;
  const session = { session_id: 's', title: null, updated_at: 'now', message_count: messageCount };
  const archive = {
    listMessages: async () => {
      requests += 1;
      return { data: { items: [{ content }], next_cursor: `c${requests}` }, body: null };
    },
  };
  const backend = { service: { getSession: async () => ({ data: session }) }, archive };
  const context = { open: async () => ({ backend }), call: async () => ({}) } as unknown as CliContext;
  return { context, requests: () => requests };
}

test('more messages than the count of the session are refused as soon as they arrive', async () => {
  const { context, requests } = serverOf(7, 'x');
  await expect(readSession('s', context)).rejects.toMatchObject({ code: 'BAD_RESPONSE' });
  expect(requests()).toBe(8);
});

test('as many messages as the count of the session are refused when they are too long', async () => {
  const { context, requests } = serverOf(1e15, 'x'.repeat(100));
  const error = readSession('s', context, 10_000);
  await expect(error).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  await expect(error).rejects.toThrow('limit of an export, 10000 characters');
  expect(requests()).toBeLessThan(100);
});
