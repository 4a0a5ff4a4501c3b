// The record that an import makes of one line of a foreign conversation.
import { expect, test } from 'vitest';
import type { ForeignMessage } from '../../../src/cli/imports/conversation.ts';
import { singleBranch } from '../../../src/cli/imports/conversation.ts';
import { recordOf } from '../../../src/cli/imports/conversation-record.ts';

/** The modes of messages in turns whose replies have these models. */
function modesOf(models: readonly (string | null)[]) {
  const messages = models.flatMap((model, turn): readonly ForeignMessage[] => [
    { id: `q${turn}`, role: 'user', time: null, model: null, finish: null, parts: text },
    { id: `a${turn}`, role: 'assistant', time: null, model, finish: null, parts: text },
  ]);
  const [branch] = [...singleBranch(messages)];
  if (branch === undefined) throw new Error('There is no branch.');
  const conversation = { id: 'c', title: null, created: 0, system: null, branches: [branch] };
  const record = recordOf(conversation, branch, { source: 'claude', fallbackTime: 0, messagesOnly: false });
  return record?.messages.map(({ mode }) => mode);
}

const text = [{ kind: 'text', text: 'word' }] as const;

test('a message has the mode of its turn: its model, the last one before it, or the name of the source', () => {
  expect(modesOf([null, 'one', null, 'two'])).toEqual([
    ...['claude', 'claude', 'one', 'one'],
    ...['one', 'one', 'two', 'two'],
  ]);
});

// Some servers of models give each reply the same id.
test('messages with one id in their source have different ids here', () => {
  const messages = ['q', 'a', 'q', 'a'].map((id): ForeignMessage => {
    return {
      id,
      role: id === 'q' ? 'user' : 'assistant',
      time: null,
      model: null,
      finish: null,
      parts: text,
    };
  });
  const [branch] = singleBranch(messages);
  if (branch === undefined) throw new Error('There is no branch.');
  const conversation = { id: 'c', title: null, created: 0, system: null, branches: [branch] };
  const record = recordOf(conversation, branch, { source: 'codex', fallbackTime: 0, messagesOnly: false });
  expect(record?.messages.map(({ message_id }) => message_id)).toEqual([
    ...['codex/c/q', 'codex/c/a', 'codex/c/#3', 'codex/c/#4'],
  ]);
});

// If each message searched all earlier ones, this would take minutes.
test('a line of 40,000 messages without a model is a record', () => {
  const models = new Array<null>(20_000).fill(null);
  expect(new Set(modesOf(models))).toEqual(new Set(['claude']));
});
