// How the lines of a chat of Gemini CLI become messages.
import { expect, test } from 'vitest';
import { geminiCli } from '../../../src/cli/imports/sources/gemini-cli.ts';
import { conversationOf, readingsOf, textsOf } from '../../support/source-readings.ts';

const head = { sessionId: 'a', projectHash: 'b', startTime: '2026-01-01T00:00:00.000Z', kind: 'main' };
const user = (id: string, text: string) => ({ id, type: 'user', content: [{ text }] });
const reply = (id: string, text: string) => ({ id, type: 'gemini', content: text });

async function branchesOf(...lines: readonly object[]) {
  return textsOf(geminiCli, await conversationOf(geminiCli, 'session-a.jsonl', [head, ...lines]));
}

test('messages that the user took back with /rewind are a branch of their own', async () => {
  const [one, two, three, four] = [
    user('1', 'One?'),
    reply('2', 'One.'),
    user('3', 'Two?'),
    reply('4', 'Two.'),
  ];
  const rewound = [{ $rewindTo: '3' }, { $set: { messages: [one, two] } }];
  expect(
    await branchesOf(one, two, three, four, ...rewound, user('5', 'Three?'), reply('6', 'Three.')),
  ).toEqual([
    ['user: One?', 'assistant: One.', 'user: Three?', 'assistant: Three.'],
    ['user: One?', 'assistant: One.', 'user: Two?', 'assistant: Two.'],
  ]);
});

test('the summary that replaces old messages for the model, with copies of the newest, is no message', async () => {
  const [one, two, three, four] = [
    user('1', 'One?'),
    reply('2', 'One.'),
    user('3', 'Two?'),
    reply('4', 'Two.'),
  ];
  const summary = [user('s', '<state_snapshot>…</state_snapshot>'), reply('t', 'Got it.')];
  const compressed = { $set: { messages: [...summary, user('c', 'Two?'), reply('d', 'Two.')] } };
  const before = [one, two, three, four, compressed];
  const oldTexts = ['user: One?', 'assistant: One.', 'user: Two?', 'assistant: Two.'];
  expect(await branchesOf(...before, user('5', 'Three?'), reply('6', 'Three.'))).toEqual([
    [...oldTexts, 'user: Three?', 'assistant: Three.'],
  ]);
  const rewound = [{ $rewindTo: 'c' }, { $set: { messages: summary } }];
  expect(await branchesOf(...before, ...rewound, user('5', 'Three?'), reply('6', 'Three.'))).toEqual([
    ['user: One?', 'assistant: One.', 'user: Three?', 'assistant: Three.'],
    oldTexts,
  ]);
});

test('a reply has its reasoning once, its text, and each tool call with its own result or failure', async () => {
  const results = [
    { functionResponse: { id: 'a', response: { output: 'read' } } },
    { functionResponse: { id: 'b', response: { error: 'no such file' } } },
  ];
  const call = (id: string) => ({ id, name: id, args: {}, result: results });
  const thoughts = [{ subject: 'Files', description: 'Read both.' }];
  const content = [{ text: 'Files: read both.', thought: true }, { text: 'I read both.' }];
  const message = { id: '2', type: 'gemini', content, thoughts, toolCalls: [call('a'), call('b')] };
  expect(await branchesOf(user('1', 'Read'), message)).toEqual([
    [
      'user: Read',
      'assistant: > [thinking]\n> Files\n> Read both.\n\nI read both.\n\n' +
        '> [tool: a] {}\n\n> [result] read\n\n> [tool: b] {}\n\n> [result] no such file',
    ],
  ]);
});

test('files of a message are named, and texts that hooks added are left out', async () => {
  const content = [
    'Look',
    { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    { fileData: { mimeType: 'text/plain', fileUri: 'gs://a/notes.txt' } },
    { text: '<hook_context>a hook</hook_context>' },
  ];
  expect(
    await branchesOf({ ...user('1', ''), content }, { ...reply('2', ''), content: { text: 'Seen.' } }),
  ).toEqual([
    ['user: Look\n\n[attachment: image/png]\n\n[attachment: gs://a/notes.txt]', 'assistant: Seen.'],
  ]);
});

test('messages that the program copied to shorten results of tools are there once', async () => {
  const [one, two] = [user('1', 'One?'), reply('2', 'One.')];
  const copies = [user('3', 'One?'), reply('4', 'One.')];
  expect(await branchesOf(one, two, ...copies, { $set: { messages: copies } }, user('5', 'Two?'))).toEqual([
    ['user: One?', 'assistant: One.', 'user: Two?'],
  ]);
});

test('the chat of a subagent is skipped', async () => {
  const lines = [{ ...head, kind: 'subagent' }, user('1', 'Search')];
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  expect(await readingsOf(geminiCli, 'b.jsonl', text)).toEqual([{ place: null, skipped: 'subagent' }]);
});
