// Which items of an OpenAI export are messages.
import { expect, test } from 'vitest';
import { openai } from '../../../src/cli/imports/sources/openai.ts';

async function rolesOf(messages: readonly object[]) {
  const file = {
    path: 'chat.jsonl',
    bytes: 0,
    modified: null,
    local: null,
    place: null,
    async *open() {
      yield Buffer.from(JSON.stringify({ messages }));
    },
  };
  const unneeded = () => expect.fail('No database is read.');
  const { signal } = new AbortController();
  const options = { signal, temporaryDirectory: unneeded, openDatabase: unneeded };
  const roles: unknown[] = [];
  for await (const reading of openai.read(file, options))
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
