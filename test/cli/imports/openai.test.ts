// Which items of an OpenAI export are messages, and what a damaged line of it costs.
import { expect, test } from 'vitest';
import { openai } from '../../../src/cli/imports/sources/openai.ts';
import { readingsOf as readSource, textsOf } from '../../support/source-readings.ts';

const readingsOf = (text: string) => readSource(openai, 'chat.jsonl', text);

async function rolesOf(messages: readonly object[]) {
  const roles: unknown[] = [];
  for (const reading of await readingsOf(JSON.stringify({ messages })))
    if ('conversation' in reading)
      for (const branch of reading.conversation.branches)
        for (const { role } of branch.messages) roles.push(role);
  return roles;
}

test('a message with an unknown role is left out, whatever the name of the role', async () => {
  const roles = ['user', 'assistant', 'moderator', 'constructor', 'toString', 'tool'];
  expect(await rolesOf(roles.map((role) => ({ role, content: 'x' })))).toEqual([
    'user',
    'assistant',
    'assistant',
  ]);
});

const lineOf = (content: string) => JSON.stringify({ messages: [{ role: 'user', content }] });

test.each([
  ['is cut within a string', lineOf('cut').slice(0, 40)],
  ['is cut between two values', lineOf('cut').slice(0, 14)],
  ['has no braces', 'Connection reset by peer'],
])('a line that %s fails alone: the lines after it are read', async (_, damaged) => {
  const lines = [`\ufeff${lineOf('first')}`, '', damaged, lineOf('second'), lineOf('third')];
  const readings = await readingsOf(lines.join('\r\n'));
  expect(
    readings.map((reading) =>
      'failure' in reading ? reading.failure.message : 'conversation' in reading && reading.conversation.id,
    ),
  ).toEqual([
    expect.stringMatching(/^chat\.jsonl#1-/),
    'The data at line 3 is not JSON.',
    expect.stringMatching(/^chat\.jsonl#3-/),
    expect.stringMatching(/^chat\.jsonl#4-/),
  ]);
});

test('what follows a value that is not closed is not said to be read', async () => {
  const [reading] = await readingsOf(`${lineOf('cut').slice(0, 40)}\n${lineOf('second')}\n`);
  expect(reading).toMatchObject({
    failure: {
      message: 'The data at item 1 is incomplete: the file ends in the middle of it.',
      hint: 'Only what comes before it was read.',
    },
  });
});

test('values that take several lines, or share one, are read', async () => {
  const value = JSON.stringify(JSON.parse(lineOf('long')), null, 1);
  const readings = await readingsOf(`${value}\n${value} ${lineOf('short')}\n`);
  expect(readings.map((reading) => 'conversation' in reading)).toEqual([true, true, true]);
});

test('calls of all kinds of tools, their results and reasoning are notes, and attached files are named', async () => {
  const items = [
    {
      ...{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Look' }] },
      attachments: [{ file_id: 'file-a', tools: [] }],
    },
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
    { type: 'mcp_call', name: 'tides', arguments: '{"at":1}', output: 'high' },
    { type: 'web_search_call', action: { type: 'search', query: 'tides' } },
    { type: 'code_interpreter_call', code: '1 + 1', outputs: [{ type: 'logs', logs: '2' }] },
    { type: 'custom_tool_call', name: 'run', input: 'ls' },
    { type: 'custom_tool_call_output', output: [{ type: 'input_text', text: 'a.txt' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] },
  ];
  const [reading] = await readingsOf(JSON.stringify({ object: 'list', data: items }));
  if (reading === undefined || !('conversation' in reading)) return expect.fail('There is no conversation.');
  expect(textsOf(openai, reading.conversation)).toEqual([
    [
      'user: [attachment: file-a]\n\nLook',
      'assistant: > [thinking] Hm.\n\n> [tool: tides] {"at":1}\n\n> [result] high\n\n' +
        '> [tool: web_search_call] {"type":"search","query":"tides"}\n\n' +
        '> [tool: code_interpreter_call] 1 + 1\n\n> [result] [{"type":"logs","logs":"2"}]\n\n' +
        '> [tool: run] ls\n\n> [result] a.txt\n\nDone.',
    ],
  ]);
});
