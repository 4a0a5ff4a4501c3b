// Six tasks of six users, each done in at most two commands, as the README shows them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Message, Page, Session } from '../../src/service/session.ts';
import { replyOf, sendStream } from '../support/model-server.ts';
import { PlaceWithModel } from '../support/place-with-model.ts';

let place: PlaceWithModel;
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

beforeAll(async () => {
  place = await PlaceWithModel.open();
  place.script = ({ body }, response) => {
    const { messages, model, response_format: format } = JSON.parse(body);
    const [system, { content }] = [
      messages.find(({ role }: { role: string }) => role === 'system'),
      messages.at(-1),
    ];
    const row = /^(\w+) (\d+)$/.exec(content);
    const said = format
      ? JSON.stringify({ name: row?.[1], size: Number(row?.[2]) })
      : `${model}: ${system?.content ?? ''} ${content}`;
    sendStream(response, replyOf(said));
  };
  for (const name of ['qwen', 'gpt', 'llama'])
    await place.output(['modes', 'add', name, '--base-url', place.server.url, '--model', `${name} model`]);
  await place.output(['modes', 'default', 'qwen']);
});
afterAll(() => place.close());

/** The output of the commands. The README shows each of these forms. */
async function done(commands: readonly string[], forms: readonly string[]): Promise<string> {
  expect(commands.length).toBeLessThanOrEqual(2);
  expect(forms.filter((form) => !readme.includes(form))).toEqual([]);
  const { status, out, err } = await place.shell(commands.join(' && '));
  expect(status, err).toBe(0);
  return out;
}

test('a commit message by a template', async () => {
  const out = await done(
    [
      "echo 'Write a commit message in {{language:English}} for this:' | parley templates edit commit",
      'echo +one | parley chat -t commit',
    ],
    [
      "echo 'Write a commit message in {{language:English}} for this:' | parley templates edit commit",
      'git diff | parley chat -t commit',
    ],
  );
  expect(out).toBe('qwen model:  Write a commit message in English for this:\n\n+one\n');
});

test('the same question to three models', async () => {
  const out = await done(
    ['for mode in qwen gpt llama; do parley chat -n -m "$mode" "Why?"; done'],
    ['do parley chat -n -m "$mode" "'],
  );
  expect(out).toBe('qwen model:  Why?\ngpt model:  Why?\nllama model:  Why?\n');
});

test('two turns back, and another question', async () => {
  for (const message of ['First?', 'Second?', 'Third?'])
    await place.output(['chat', '-n', ...(message === 'First?' ? [] : ['-c']), message]);
  const out = await done(
    ['parley sessions undo "First?" --turns 2', 'parley chat -n -s "First?" "Otherwise?"'],
    ['`parley sessions undo ID --turns 2`'],
  );
  expect(out).toBe('Second?\nqwen model:  Otherwise?\n');
  const { items } = await place.answer<Page<Message>>(['sessions', 'messages', 'First?']);
  expect(items.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
    'First?',
    'Otherwise?',
  ]);
});

test("yesterday's session by a word of its messages", async () => {
  await place.output(['chat', '-n', '--title', 'Garden', 'Where do the hydrangeas grow?']);
  for (const message of ['Other', 'And another']) await place.output(['chat', '-n', message]);
  const { out } = await place.terminal('parley sessions search hydrangeas');
  const [, command = ''] = /^To continue the best match: (parley chat -s ses_\w+) "…"$/m.exec(out) ?? [];
  const goOn = await done([`${command} "In the shade?"`], ['`parley sessions search WORD`']);
  expect(goOn).toBe('qwen model:  In the shade?\n');
  expect((await place.answer<Session>(['sessions', 'get', 'Garden'])).message_count).toBe(4);
});

test('a table of JSON out of 200 lines', async () => {
  const lines = Array.from({ length: 200 }, (_, at) => `item${at} ${at * 3}`);
  writeFileSync(join(place.path, 'lines.txt'), `${lines.join('\n')}\n`);
  const properties = { name: { type: 'string' }, size: { type: 'integer' } };
  writeFileSync(
    join(place.path, 'row.json'),
    JSON.stringify({ type: 'object', properties, required: ['name', 'size'] }),
  );
  const out = await done(
    ['parley chat --batch --schema row.json --jq .value < lines.txt'],
    ['`parley chat --batch --schema row.json --jq .value < lines.txt`'],
  );
  const rows = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows).toEqual(lines.map((_, at) => ({ name: `item${at}`, size: at * 3 })));
});

test('a system prompt for one session', async () => {
  const out = await done(
    ['parley chat -n --system "Answer in French." "Hello"', 'parley chat -n -c "And now?"'],
    ['`parley chat --system "Answer in French." --temperature 0 "Hello"`'],
  );
  expect(out).toBe('qwen model: Answer in French. Hello\nqwen model: Answer in French. And now?\n');
  expect(await place.output(['chat', '-n', 'Hello'])).toBe('qwen model:  Hello\n');
});
