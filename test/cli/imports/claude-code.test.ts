// How the lines of a transcript of Claude Code become messages.
import { expect, test } from 'vitest';
import { claudeCode } from '../../../src/cli/imports/sources/claude-code.ts';
import { conversationOf, textsOf } from '../../support/source-readings.ts';

const name = 'aaaaaaaa-0000-4000-8000-000000000001.jsonl';
const sessionId = 'aaaaaaaa-0000-4000-8000-000000000001';

const line = (uuid: string, parentUuid: string | null, fields: object) => ({
  uuid,
  parentUuid,
  sessionId,
  ...fields,
});
const user = (uuid: string, parent: string | null, content: unknown, fields: object = {}) =>
  line(uuid, parent, { type: 'user', message: { role: 'user', content }, ...fields });
const reply = (uuid: string, parent: string, content: object, fields: object = {}) =>
  line(uuid, parent, { type: 'assistant', message: { role: 'assistant', content: [content], ...fields } });
const text = (words: string) => ({ type: 'text', text: words });
const call = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: id });
const result = (id: string, content: string) => [{ type: 'tool_result', tool_use_id: id, content }];
const queued = (uuid: string, parent: string, attachment: object) =>
  line(uuid, parent, { type: 'attachment', attachment: { type: 'queued_command', ...attachment } });

async function branchesOf(...lines: readonly object[]) {
  return textsOf(claudeCode, await conversationOf(claudeCode, name, lines));
}

test('a message that the user sent while the model worked is a message', async () => {
  expect(
    await branchesOf(
      user('1', null, 'Look'),
      reply('2', '1', text('Looking.')),
      queued('3', '2', {
        prompt: 'Take B',
        commandMode: 'prompt',
        origin: { kind: 'human' },
        source_uuid: 's',
      }),
      queued('4', '3', { prompt: [text('Take B')], source_uuid: 's' }),
      reply('5', '4', text('B.')),
      queued('6', '5', { prompt: [text('And C'), { type: 'image', source: {} }] }),
      queued('7', '6', {
        prompt: '<task-notification>x</task-notification>',
        commandMode: 'task-notification',
      }),
      queued('8', '7', { prompt: 'go on', commandMode: 'prompt', origin: { kind: 'auto-continuation' } }),
      reply('9', '8', text('C.')),
    ),
  ).toEqual([
    [
      ...['user: Look', 'assistant: Looking.', 'user: Take B', 'assistant: B.'],
      ...['user: And C\n\n[attachment: image]', 'assistant: C.'],
    ],
  ]);
});

test('the summary of a compacted conversation is not a message of the user', async () => {
  const boundary = line('3', null, { type: 'system', subtype: 'compact_boundary', logicalParentUuid: '2' });
  const summary = user('4', '3', 'This session is being continued…', { isCompactSummary: true });
  expect(
    await branchesOf(
      ...[user('1', null, 'One?'), reply('2', '1', text('One.')), boundary, summary],
      ...[user('5', '4', 'Two?'), reply('6', '5', text('Two.'))],
    ),
  ).toEqual([['user: One?', 'assistant: One.', 'user: Two?', 'assistant: Two.']]);
});

test('calls of one reply stay together if the next line follows the result of the first', async () => {
  const id = { id: 'msg_1' };
  expect(
    await branchesOf(
      ...[user('1', null, 'Look'), reply('2', '1', text('Both.'), id), reply('3', '2', call('a'), id)],
      ...[reply('4', '3', call('b'), { ...id, stop_reason: 'tool_use' })],
      ...[user('5', '4', result('b', 'B')), user('6', '3', result('a', 'A'))],
      reply('7', '6', text('Done.'), { id: 'msg_2' }),
    ),
  ).toEqual([
    [
      'user: Look',
      'assistant: Both.\n\n> [tool: Read] a\n\n> [result] A\n\n> [tool: Read] b\n\n> [result] B\n\nDone.',
    ],
  ]);
});

test('replies of a server that gives all of them one id are not mixed up', async () => {
  const id = { id: 'msg_0' };
  expect(
    await branchesOf(
      ...[user('1', null, 'One?'), reply('2', '1', text('One.'), id)],
      ...[user('3', '2', 'Two?'), reply('4', '3', text('Two.'), id)],
    ),
  ).toEqual([['user: One?', 'assistant: One.', 'user: Two?', 'assistant: Two.']]);
});

test('a cut reply of several lines is marked as cut', async () => {
  const lines = [
    ...[user('1', null, 'Look'), reply('2', '1', { type: 'thinking', thinking: 'Hm.' }, { id: 'a' })],
    reply('3', '2', text('One'), { id: 'a', stop_reason: 'max_tokens' }),
  ];
  const { branches } = await conversationOf(claudeCode, name, lines);
  expect([...branches].map(({ messages }) => messages.at(-1)?.finish)).toEqual(['length']);
});

test('a reply that the user stopped is marked as interrupted, without a message for it', async () => {
  const lines = [
    ...[user('1', null, 'Look'), reply('2', '1', text('Loo'))],
    ...[user('3', '2', '[Request interrupted by user]')],
    ...[user('4', '3', 'Stop'), reply('5', '4', text('Stopp'))],
    user('6', '5', [text('[Request interrupted by user for tool use]')]),
  ];
  const { branches } = await conversationOf(claudeCode, name, lines);
  expect([...branches].map(({ messages }) => messages.map(({ role, finish }) => [role, finish]))).toEqual([
    [
      ['user', null],
      ['assistant', 'interrupted'],
      ['user', null],
      ['assistant', 'interrupted'],
    ],
  ]);
});

test('commands are shown as typed, and what they print is not a message of the user', async () => {
  const command = '<command-message>review</command-message>\n<command-name>/review</command-name>\n';
  expect(
    await branchesOf(
      user('1', null, `${command}<command-args>the tide table</command-args>`),
      user('2', '1', [text('<system-reminder>a reminder</system-reminder>')]),
      reply('3', '2', text('Good.')),
      user('4', '3', '<bash-input>ls -l</bash-input>'),
      user('5', '4', '<bash-stdout>tide.txt</bash-stdout><bash-stderr></bash-stderr>'),
      user(
        '6',
        '5',
        '<command-name>/cost</command-name>\n<command-message>cost</command-message>\n<command-args></command-args>',
      ),
      user('7', '6', '<local-command-stdout>Total: 1</local-command-stdout>'),
      user('8', '7', '<task-notification>\n<status>completed</status>\n</task-notification>'),
    ),
  ).toEqual([
    [
      ...[
        'user: /review the tide table',
        'assistant: Good.',
        'user: !ls -l',
        'assistant: > [result] tide.txt',
      ],
      'user: /cost',
      'assistant: > [result] Total: 1\n\n> [result]\n> <task-notification>\n> <status>completed</status>\n> </task-notification>',
    ],
  ]);
});

const turn = [user('1', null, 'One?'), reply('2', '1', text('One.'))];
const titleOf = async (...lines: readonly object[]) =>
  (await conversationOf(claudeCode, name, [...lines, ...turn])).title;

test('the summary of another conversation is not the title', async () => {
  const other = { type: 'summary', summary: 'Another', leafUuid: 'x' };
  expect(await titleOf(other)).toBe(null);
  expect(await titleOf({ type: 'summary', summary: 'This', leafUuid: '2' }, other)).toBe('This');
});

test('the title that the user chose goes before a generated one', async () => {
  const chosen = { type: 'custom-title', customTitle: 'Chosen', sessionId };
  const generated = { type: 'ai-title', aiTitle: 'Generated', sessionId };
  const summary = { type: 'summary', summary: 'Summary', leafUuid: '2' };
  expect(await titleOf(chosen, generated, summary)).toBe('Chosen');
  expect(await titleOf(generated, summary)).toBe('Generated');
});
