// Other replies, undo, redo and forks on the command line; and that an export and an import lose nothing of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ChatReply } from '../../src/service/chat-event.ts';
import type { Message, Page, Session } from '../../src/service/session.ts';
import { entered, ReplFixture } from '../cli/repl/repl-fixture.ts';
import { expectFailure } from '../support/failures.ts';
import { replyOf, sendStream } from '../support/model-server.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { fails, PlaceWithModel } from '../support/place-with-model.ts';
import { servePlace } from '../support/served-place.ts';

let place: PlaceWithModel;
const fixture = new ReplFixture();
let replies = 0;
const counting: PlaceWithModel['script'] = (_request, response) =>
  sendStream(response, replyOf(`reply ${++replies}`));

beforeAll(async () => {
  place = await PlaceWithModel.open();
  place.script = counting;
  await place.add('own', '--default');
});
afterEach(() => {
  replies = 0;
  place.script = counting;
  fixture.close();
});
afterAll(() => place.close());

const chat = (...words: readonly string[]) => place.answer<ChatReply>(['chat', '-n', ...words]);
const session = (id: string) => place.answer<Session>(['sessions', 'get', id]);
const messages = async (id: string, ...words: readonly string[]) =>
  (await place.answer<Page<Message>>(['sessions', 'messages', id, ...words])).items;
const said = async (id: string, ...words: readonly string[]) =>
  (await messages(id, ...words)).map(({ content }) => content);

test('--regenerate requests another reply, also in another mode, and keeps the earlier one as an alternative', async () => {
  const { session_id: id } = await chat('question');
  const again = await place.parley(['chat', '-n', '-c', '--regenerate']);
  expect(again).toMatchObject({ status: 0, out: 'reply 2\n', err: '' });
  expect(await said(id)).toEqual(['question', 'reply 2']);
  const echoed = await place.parley(['chat', '-s', id, '--regenerate', '-m', 'echo'], { stdin: 'unread' });
  expect(echoed).toMatchObject({
    status: 0,
    out: 'question\n',
    err: 'The session continues in mode echo; it was in own before.\n',
  });
  const all = await messages(id, '--all');
  expect(all.map(({ content, alternative_of }) => [content, alternative_of !== undefined])).toEqual(
    expect.arrayContaining([
      ['question', false],
      ['question', false],
      ['reply 1', true],
      ['reply 2', true],
    ]),
  );
  expect(await session(id)).toMatchObject({ message_count: 2, mode: 'echo' });
  expect((await place.parley(['chat', '-n', '-c', 'more'])).out).toBe('more\n');
});

test('a regeneration that fails keeps the reply, and names the command that repeats it', async () => {
  const { session_id: id } = await chat('question');
  place.script = fails;
  for (const [words, other] of [
    [['-s', id, '--regenerate'], ''],
    [['-c', '--regenerate'], ' (but without -c)'],
    [['-s', id, '--fork', 'again'], ' (but without --fork)'],
  ] as const) {
    const failed = await place.parley(['chat', '-n', ...words]);
    expectFailure(failed, { status: 1, code: 'ENGINE_FAILED' });
    expect(failed.err.replaceAll(/ses_\w+/g, 'ID')).toContain(`-m own -s ID${other}\n`);
  }
  expect(await said(id)).toEqual(['question', 'reply 1']);
});

test.each([
  [['--regenerate'], '--regenerate needs a session.'],
  [['--fork', 'x'], '--fork needs a session.'],
  [['-c', '--regenerate', 'x'], 'A message and --regenerate cannot be used together.'],
  [['-c', '--regenerate', '--fork'], '--fork and --regenerate cannot be used together.'],
  [['--batch', '--regenerate'], '--regenerate and --batch cannot be used together.'],
])(
  'options that cannot be combined with a regeneration or a fork are refused: %j',
  async (words, problem) => {
    const refused = await place.parley(['chat', ...words]);
    expectFailure(refused, { status: 2, code: 'USAGE' });
    expect(refused.err).toContain(problem);
  },
);

test('undo hides the last turn and prints its message, and redo shows it again', async () => {
  const { session_id: id } = await chat('one');
  await chat('-c', 'two');
  const undone = await place.parley(['sessions', 'undo', id]);
  expect(undone).toMatchObject({
    status: 0,
    out: 'two\n',
    err: `Undid the last turn of ${id}. To restore it: parley sessions redo ${id}\n`,
  });
  expect(await said(id)).toEqual(['one', 'reply 1']);
  expect(await place.output(['sessions', 'messages', id, '--all'])).toMatch(
    /\n\ntwo\n[\s\S]*## assistant \(own\), \S+, undone \S+\n\nreply 2\n$/,
  );
  expect(await place.output(['sessions', 'redo', id])).toBe('two\n');
  expect(await said(id)).toEqual(['one', 'reply 1', 'two', 'reply 2']);
  expectFailure(await place.parley(['sessions', 'redo', id]), { status: 2, code: 'INVALID_REQUEST' });
});

test('undo --turns hides several turns, and prints the message of the first; too many are refused', async () => {
  const { session_id: id } = await chat('-m', 'echo', 'one');
  for (const message of ['two', 'three']) await chat('-c', message);
  const undone = await place.parley(['sessions', 'undo', id, '--turns', '2']);
  expect(undone).toMatchObject({
    status: 0,
    out: 'two\n',
    err: `Undid the last 2 turns of ${id}. To restore them: parley sessions redo ${id} --turns 2\n`,
  });
  expect(await said(id)).toEqual(['one', 'one']);
  const refused = await place.parley(['sessions', 'undo', id, '--turns', '2']);
  expectFailure(refused, { status: 2, code: 'USAGE' });
  expect(refused.err).toContain('The session has 1 turn, not 2.');
  expect(await said(id)).toEqual(['one', 'one']);
  expect(await place.output(['sessions', 'redo', id])).toBe('two\n');
});

test('redo --turns shows several turns again, and prints the message of the last; if there are fewer, it shows all and ends with 3', async () => {
  const { session_id: id } = await chat('-m', 'echo', 'one');
  for (const message of ['two', 'three']) await chat('-c', message);
  await place.output(['sessions', 'undo', id, '--turns', '3']);
  expect(await place.parley(['sessions', 'redo', id, '--turns', '2'])).toMatchObject({
    ...{ status: 0, out: 'two\n', err: `Restored 2 turns in ${id}.\n` },
  });
  expect(await place.parley(['sessions', 'redo', id, '--turns', '2'])).toMatchObject({
    ...{
      status: 3,
      out: 'three\n',
      err: `Restored 1 turn in ${id}. There was no other turn to restore.\n`,
    },
  });
  expect(await said(id)).toEqual(['one', 'one', 'two', 'two', 'three', 'three']);
  const none = await place.parley(['sessions', 'redo', id, '--turns', '2']);
  expectFailure(none, { status: 2, code: 'INVALID_REQUEST' });
});

test('after an undo and a redo a session continues in the mode of its last turn', async () => {
  const { session_id: id } = await chat('-m', 'echo', 'one');
  await place.output(['chat', '-n', '-c', '-m', 'own', 'two']);
  await place.output(['sessions', 'undo', id]);
  expect(await chat('-c', 'three')).toMatchObject({ mode: 'echo', reply: 'three' });
  await place.output(['chat', '-n', '-c', '--regenerate', '-m', 'own']);
  await place.output(['sessions', 'undo', id]);
  await place.output(['sessions', 'redo', id]);
  expect(await chat('-c', 'four')).toMatchObject({ mode: 'own', reply: 'reply 3' });
  const screen = fixture.open(['repl', '-m', 'echo'], {}, place);
  await screen.stands('echo> ');
  await place.output(['chat', '-n', '-s', id, '--regenerate', '-m', 'eliza']);
  await chat('another session');
  screen.type(`/resume ${id}\r`);
  await screen.stands('eliza (one)> ');
  expect(await chat('-c', 'five')).toMatchObject({ session_id: id, mode: 'eliza' });
});

test('fork prints the id of a copy with the settings, which outlives the session', async () => {
  const { session_id: id } = await chat('--system', 'S', 'one');
  await chat('-c', 'two');
  const copy = (await place.output(['sessions', 'fork', id, '--at', '1', '--title', 'Other'])).trim();
  expect(await session(copy)).toMatchObject({
    ...{ title: 'Other', mode: 'own', system: 'S', parent_id: id, forked_at: 1 },
  });
  expect(await said(copy)).toEqual(['one', 'reply 1']);
  await place.output(['sessions', 'delete', id]);
  expect((await chat('-c', 'three')).session_id).toBe(copy);
  const refused = await place.parley(['sessions', 'fork', copy, '--at', '2']);
  expectFailure(refused, { status: 2, code: 'INVALID_REQUEST' });
  expect(refused.err).toContain('parley: --at must be the position of a reply');
});

test('chat --fork continues in a copy, and does not change the session', async () => {
  const { session_id: id } = await chat('one');
  const { status, out, err } = await place.parley([
    'chat',
    '-n',
    '-s',
    id,
    '--fork',
    '--title',
    'Mine',
    'Or two',
  ]);
  expect({ status, out }).toEqual({ status: 0, out: 'reply 2\n' });
  const copy = /^Continuing in a copy of ses_\w+: (ses_\w+)\n$/.exec(err)?.[1] ?? '';
  expect(await session(copy)).toMatchObject({ title: 'Mine', parent_id: id, message_count: 4 });
  expect(await said(id)).toEqual(['one', 'reply 1']);
  expect((await chat('-c', 'three')).session_id).toBe(copy);
});

test('replaced and undone messages are exported in each format, and imported elsewhere', async () => {
  const { session_id: id } = await chat('one');
  await place.output(['chat', '-n', '-c', '--regenerate']);
  await chat('-c', 'two');
  await place.output(['sessions', 'undo', id]);
  for (const name of ['all.md', 'all.html', 'all.json'])
    await place.output(['sessions', 'export', id, '-o', join(place.path, name)]);
  const file = (name: string) => readFileSync(join(place.path, name), 'utf8');
  expect(file('all.md')).toMatch(/, alternative\n\nreply 1\n[\s\S]*, undone \S+\n\ntwo\n/);
  expect(file('all.html')).toMatch(
    /<section class="assistant hidden">\n<h2>own .*alternative.*<\/h2>\n.*reply 1/,
  );
  const other = new PlaceInProcess();
  await other.output(['sessions', 'import', join(place.path, 'all.json')]);
  const { items } = await other.answer<Page<Message>>(['sessions', 'messages', id, '--all']);
  expect(items).toEqual(await messages(id, '--all'));
  expect(items).toHaveLength(5);
  other.remove();
});

test('a server does the same, for a session that is named by its title', async () => {
  const served = await servePlace(place);
  const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'far']);
  const client = new PlaceInProcess();
  await client.output(['login', '--url', served.url, '--profile', 'far', '--key-stdin'], { stdin: key });
  await client.output(['chat', '-n', '-m', 'echo', 'My title']);
  expect(await client.output(['chat', '-n', '-c', '--regenerate', '-m', 'own'])).toBe('reply 1\n');
  expect(await client.output(['sessions', 'undo', 'My title'])).toBe('My title\n');
  expect(await client.output(['sessions', 'redo', 'My title'])).toBe('My title\n');
  const copy = (await client.output(['sessions', 'fork', 'My title', '--title', 'Copy'])).trim();
  expect(await client.output(['chat', '-n', '-s', 'My title', '--fork', '--title', 'Second', 'And?'])).toBe(
    'reply 2\n',
  );
  expect(await client.answer<Session>(['sessions', 'get', copy])).toMatchObject({
    title: 'Copy',
    forked_at: 1,
  });
  const { items } = await client.answer<Page<Message>>(['sessions', 'messages', 'My title', '--all']);
  expect(items.map(({ content }) => content).sort()).toEqual(['My title', 'My title', 'reply 1']);
  await served.end('SIGTERM');
  client.remove();
});

test('the REPL has other replies, undo, an edit of the last message, and forks', async () => {
  await place.output(['models']);
  const screen = fixture.open(
    ['repl', '-m', 'own'],
    { columns: 110, rows: 50, env: { EDITOR: 'sed -i s/one/other/' } },
    place,
  );
  await screen.stands('own> ');
  await entered(screen, 'one');
  expect(await entered(screen, '/retry')).toBe(
    'The last reply is complete; /regenerate asks for another one.',
  );
  expect(await entered(screen, '/regenerate')).toBe('reply 2');
  expect(await entered(screen, '/regenerate echo')).toBe('one');
  await screen.stands('echo (one)> ');
  await entered(screen, '/mode own');
  screen.type('/undo\r');
  await screen.stands('own (one)> one');
  screen.type('\x15');
  expect(await entered(screen, '/redo')).toBe('Restored: one');
  screen.type('/edit\r');
  await screen.until('the edited question is answered', () => /reply 3\n+own \(one\)>$/.test(screen.text));
  expect(await entered(screen, '/fork A copy')).toMatch(
    /^This is the copy ses_\w+\. \/back returns to the original\.$/,
  );
  await screen.stands('own (A copy)> ');
  await entered(screen, 'more');
  expect(await entered(screen, '/back')).toBe('> other\nreply 3');
  const id = /session_id: (\S+)/.exec(await entered(screen, '/status'))?.[1] ?? '';
  expect(await said(id)).toEqual(['other', 'reply 3']);
  expect((await said(id, '--all')).sort()).toEqual(['one', 'one', 'other', 'reply 1', 'reply 2', 'reply 3']);
});
