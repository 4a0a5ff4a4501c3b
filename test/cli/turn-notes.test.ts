// The notes about a turn besides its reply.
import { expect, test } from 'vitest';
import { startsInReasoning, turnNotes } from '../../src/cli/turn-notes.ts';
import type { ChatReply } from '../../src/service/chat-event.ts';

test.each([
  ['They greet me.\n</think>\n\nHello.', true],
  ['They greet me.</think> \nHello.', true],
  ['</thinking>\nHello.', true],
  ['<think>They greet me.</think>\nHello.', false],
  ['The tag `</think>` ends them.', false],
  ['Hello.', false],
  ['', false],
])('a reply %j starts with reasoning: %s', (reply, expected) => {
  expect(startsInReasoning(reply)).toBe(expected);
  const answer = { reply, mode: 'local', turns_left_out: 0 } as ChatReply;
  expect(turnNotes(answer, { mode: 'local', session_id: null })).toEqual(
    expected ? [expect.stringContaining('parley modes set local --think-tags open')] : [],
  );
});

test('the name of a mode, which a server may choose, is quoted in a command to copy', () => {
  const answer = { reply: 'Notes\n</think>\nHello.', mode: 'm; rm -r ~', turns_left_out: 0 } as ChatReply;
  expect(turnNotes(answer, { mode: 'm', session_id: null }).join()).toContain(
    "parley modes set 'm; rm -r ~' --think-tags open",
  );
});

test('a reply in another session than the requested one is reported', () => {
  const answer = { reply: 'Hello.', mode: 'm', session_id: 'other', turns_left_out: 0 } as ChatReply;
  expect(turnNotes(answer, { mode: 'm', session_id: 'one' }).join()).toContain('session other');
  expect(turnNotes({ ...answer, session_id: 'one' }, { mode: 'm', session_id: 'one' })).toEqual([]);
});
