// How the messages of a session of aichat become messages.
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { aichat } from '../../../src/cli/imports/sources/aichat.ts';
import { readingsOf, textsOf } from '../../support/source-readings.ts';

const message = (role: string, content: unknown) => ({ role, content });
const turn = [message('user', 'One?'), message('assistant', 'One.')];

async function conversationOf(session: object) {
  const [reading] = await readingsOf(aichat, 'a.yaml', stringify({ model: 'm', ...session }));
  if (reading === undefined || !('conversation' in reading)) return expect.fail('There is no conversation.');
  return reading.conversation;
}

test('calls of tools and their results become notes before the reply', async () => {
  const results = [
    { call: { name: 'ls', arguments: { dir: '.' }, id: null }, output: { output: 'tide.txt' } },
  ];
  const called = message('tool', { tool_results: results, text: 'I look.', sequence: false });
  const [user, reply] = turn;
  const conversation = await conversationOf({ messages: [user, called, reply] });
  expect(textsOf(aichat, conversation)).toEqual([
    [
      'user: One?',
      'assistant: I look.\n\n> [tool: ls] {"dir":"."}\n\n> [result] {"output":"tide.txt"}\n\nOne.',
    ],
  ]);
});

test('the summary of older messages is not the system prompt, which is the first of them', async () => {
  const prompt = message('system', 'Be brief.');
  const summary = message('system', 'Be brief.\n\nThis is a summary of the chat history as a recap: …');
  const later = [message('user', 'Two?'), message('assistant', 'Two.')];
  expect((await conversationOf({ messages: [prompt, ...turn] })).system).toBe('Be brief.');
  const compressed = { compressed_messages: [prompt, ...turn], messages: [summary, ...later] };
  expect((await conversationOf(compressed)).system).toBe('Be brief.');
  const unprompted = await conversationOf({ compressed_messages: turn, messages: [summary, ...later] });
  expect(unprompted.system).toBe(null);
  expect(textsOf(aichat, unprompted)).toEqual([
    ['user: One?', 'assistant: One.', 'user: Two?', 'assistant: Two.'],
  ]);
});
