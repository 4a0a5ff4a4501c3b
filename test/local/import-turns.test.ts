// The import of a long session delays nobody: neither its check nor its writing blocks the event loop for long.
import { setImmediate as eventLoopTurned } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Message } from '../../src/service/session.ts';
import { callWith } from '../support/calls.ts';
import { newKey, openEmbedded } from '../support/embedded.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('while a session of 3,000 messages is checked and written, the event loop turns after a few hundred of them', async () => {
  const backend = await openEmbedded(temporaryDirectory());
  const call = callWith(await newKey(backend, 'first'));
  const time = '2024-01-01T00:00:00.000Z';
  const count = 3000;
  const message = (position: number): Message => ({
    message_id: `msg_${position}`,
    position,
    role: position % 2 === 0 ? 'user' : 'assistant',
    content: 'said',
    mode: 'echo',
    finish_reason: position % 2 === 0 ? null : 'stop',
    usage: null,
    created_at: time,
  });
  const session = {
    session_id: 'ses_long',
    title: 'long',
    created_at: time,
    updated_at: time,
    message_count: count,
  };
  const messages = Array.from({ length: count }, (_, position) => message(position));
  let isOver = false;
  const importing = backend.archive.importSession(call, { session, messages }).finally(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns += 1) await eventLoopTurned();
  expect((await importing).data).toMatchObject(session);
  // Twelve for its check, and twelve for its writing.
  expect(turns).toBeGreaterThan(22);
  await backend.close();
});
