// How the lines of a session of Codex become messages.
import { expect, test } from 'vitest';
import { codex } from '../../../src/cli/imports/sources/codex.ts';
import { conversationOf, readingsOf, textsOf } from '../../support/source-readings.ts';

const name = 'rollout-2026-01-01T00-00-00-5973b6c0-94b8-487b-a530-2aeb6098ae0e.jsonl';
const line = (type: string, payload: object) => ({ timestamp: '2026-01-01T00:00:00.000Z', type, payload });
const head = (source: unknown) => line('session_meta', { id: 'a', source });
const item = (payload: object) => line('response_item', payload);
const user = (...texts: readonly string[]) =>
  item({ type: 'message', role: 'user', content: texts.map((text) => ({ type: 'input_text', text })) });
const reply = (text: string) =>
  item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });

async function branchesOf(...lines: readonly object[]) {
  return textsOf(codex, await conversationOf(codex, name, [head('cli'), ...lines]));
}

test('turns that the user took back are a branch of their own', async () => {
  const rolledBack = line('event_msg', { type: 'thread_rolled_back', num_turns: 2 });
  expect(
    await branchesOf(
      ...[user('One?'), reply('One.'), user('Two?'), reply('Two.'), user('Three?'), reply('Three.')],
      ...[rolledBack, user('Four?'), reply('Four.')],
    ),
  ).toEqual([
    ['user: One?', 'assistant: One.', 'user: Four?', 'assistant: Four.'],
    ['user: One?', 'assistant: One.', 'user: Two?', 'assistant: Two.', 'user: Three?', 'assistant: Three.'],
  ]);
});

test('more turns taken back than there are take all of them back', async () => {
  const rolledBack = line('event_msg', { type: 'thread_rolled_back', num_turns: 9 });
  expect(await branchesOf(user('One?'), reply('One.'), rolledBack, user('Two?'), reply('Two.'))).toEqual([
    ['user: Two?', 'assistant: Two.'],
    ['user: One?', 'assistant: One.'],
  ]);
});

test.each([
  '<skill>\n<name>tides</name>\n</skill>',
  '<subagent_notification>\n{}\n</subagent_notification>',
  '<hook_prompt hook_run_id="1">go on</hook_prompt>',
  '<goal_context>\ngo on\n</goal_context>',
  '<codex_internal_context source="goal">\ngo on\n</codex_internal_context>',
  '<extension_context>\ngo on\n</extension_context>',
])('the text %j of the program is not one of the user', async (text) => {
  expect(await branchesOf(user('One?'), reply('One.'), user(text), reply('Two.'))).toEqual([
    ['user: One?', 'assistant: One.\n\nTwo.'],
  ]);
});

test('an image is named without the tags around it', async () => {
  const content = [
    { type: 'input_text', text: '<image name=[Image #1]>' },
    { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
    { type: 'input_text', text: '</image>' },
    { type: 'input_text', text: 'What is this?' },
  ];
  expect(await branchesOf(item({ type: 'message', role: 'user', content }), reply('A tide.'))).toEqual([
    ['user: [attachment: image]\n\nWhat is this?', 'assistant: A tide.'],
  ]);
});

test('the result of a tool may be a list of texts and images', async () => {
  const output = [
    { type: 'input_text', text: 'a picture' },
    { type: 'input_image', image_url: 'data:AAAA' },
  ];
  const call = item({ type: 'function_call', name: 'view_image', arguments: '{}', call_id: '1' });
  const result = item({ type: 'function_call_output', call_id: '1', output });
  expect(await branchesOf(user('Look'), call, result)).toEqual([
    ['user: Look', 'assistant: > [tool: view_image] {}\n\n> [result]\n> a picture\n> [input_image]'],
  ]);
});

test('the session of a subagent is skipped', async () => {
  const lines = [
    head({ subagent: { thread_spawn: { parent_thread_id: 'p' } } }),
    user('Search'),
    reply('No.'),
  ];
  const text = lines.map((one) => JSON.stringify(one)).join('\n');
  expect(await readingsOf(codex, name, text)).toEqual([{ place: null, skipped: 'subagent' }]);
});

test('a fork of the session of a subagent is a session', async () => {
  const copied = head({ subagent: 'review' });
  expect(await branchesOf(copied, user('One?'), reply('One.'))).toEqual([['user: One?', 'assistant: One.']]);
});

test('a reply that the user stopped is marked as interrupted', async () => {
  const aborted = line('event_msg', { type: 'turn_aborted', reason: 'interrupted' });
  const lines = [head('cli'), user('One?'), reply('On'), aborted, user('Two?'), aborted];
  const { branches } = await conversationOf(codex, name, lines);
  expect([...branches].map(({ messages }) => messages.map(({ finish }) => finish))).toEqual([
    [null, 'interrupted', null],
  ]);
});

test('searches and pictures of the model are notes', async () => {
  const searched = item({ type: 'tool_search_call', execution: 'client', arguments: { query: 'tides' } });
  const drawn = item({ type: 'image_generation_call', revised_prompt: 'A tide', result: 'AAAA' });
  expect(await branchesOf(user('Draw'), searched, drawn)).toEqual([
    [
      'user: Draw',
      'assistant: > [tool: tool_search_call] {"query":"tides"}\n\n> [tool: image_generation_call] A tide',
    ],
  ]);
});
