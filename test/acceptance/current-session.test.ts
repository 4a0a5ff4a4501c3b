// `-c` continues the last session of this terminal and this key, and no other one; `-s` continues the named one.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { CreatedKey } from '../../src/service/administration.ts';
import type { ChatReply } from '../../src/service/chat-event.ts';
import type { Page, Session } from '../../src/service/session.ts';
import { expectFailure } from '../support/failures.ts';
import { environmentOf } from '../support/other-system.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const place = new PlaceInProcess();
beforeAll(() => place.output(['models']));
afterAll(() => place.remove());

const echo = ['chat', '-n', '-m', 'echo'];
const chat = (...args: readonly string[]) => place.answer<ChatReply>([...echo, ...args]);

const count = async () =>
  (await place.answer<Page<Session>>(['sessions', 'list', '--limit', '200'])).items.length;

test('without any session -c is refused, and creates none', async () => {
  expectFailure(await place.parley([...echo, '-c', 'x']), { status: 2, code: 'USAGE' });
  expect(await count()).toBe(0);
});

test('without a terminal -c continues the last session of the key, set by chat, by -s and by create', async () => {
  const first = (await chat('one')).session_id;
  const second = (await chat('two')).session_id;
  expect((await chat('-c', 'three')).session_id).toBe(second);
  expect(await chat('-s', first, 'four')).toMatchObject({ session_id: first, message_count: 4 });
  expect((await chat('-c', 'five')).session_id).toBe(first);
  const created = (await place.output(['sessions', 'create'])).trimEnd();
  expect((await chat('-c', 'six')).session_id).toBe(created);
});

test('a command that fails does not change the current session', async () => {
  const current = (await chat('here')).session_id;
  expect((await place.parley([...echo, '-s', 'ses_gone', 'x'])).status).toBe(5);
  expect((await place.parley([...echo, '-m', 'nope', 'x'])).status).toBe(2);
  expect((await chat('-c', 'still')).session_id).toBe(current);
});

test('a session continues in its mode, and -m changes it from then on, with a note', async () => {
  const bare = (...words: string[]) => place.parley(['chat', '-n', ...words]);
  const { session_id } = await chat('one');
  expect(await bare('-c', 'two')).toMatchObject({ out: 'two\n', err: '' });
  const env = { PARLEY_MODE: 'eliza' };
  expect((await place.parley(['chat', '-n', '-s', session_id, 'three'], { env })).out).toBe('three\n');
  const refused = await bare('-c', '-m', 'nope', 'Hello');
  expect(refused.err).not.toContain('continues in mode');
  const changed = await bare('-c', '-m', 'eliza', 'Hello');
  expect(changed.out).not.toBe('Hello\n');
  expect(changed.err).toContain('The session continues in mode eliza; it was in echo before.\n');
  const after = await bare('-c', 'Hello');
  expect(after.out).not.toBe('Hello\n');
  expect(after.err).toBe('');
  expect((await chat('-n', 'x')).session_id).not.toBe(session_id);
});

test('an error about a session whose mode was removed names both and the remedy', async () => {
  const own = new PlaceInProcess();
  const settings = ['--base-url', 'http://127.0.0.1:9/v1', '--model', 'm'];
  await own.output(['modes', 'add', 'gone', ...settings]);
  // The model cannot be reached, but the message is stored in a session of this mode.
  expect((await own.parley(['chat', '-n', '-m', 'gone', 'hello'])).status).toBe(6);
  await own.output(['modes', 'remove', 'gone']);
  const refused = await own.parley(['chat', '-n', '-c', 'again']);
  expectFailure(refused, { status: 2, code: 'UNKNOWN_MODE' });
  expect(refused.err).toMatch(
    /Session ses_\w+ uses the mode "gone", which no longer exists.*\nContinue in another mode with -m MODE\. Modes: eliza, echo\./,
  );
  expect((await own.parley(['chat', '-n', '-c', '-m', 'echo', 'again'])).out).toBe('again\n');
  own.remove();
});

test('another key has its own current session', async () => {
  const mine = (await chat('mine')).session_id;
  const { key } = await place.answer<CreatedKey>(['keys', 'create', '--project', 'other']);
  const env = { PARLEY_API_KEY: key };
  expectFailure(await place.parley([...echo, '-c', 'x'], { env }), { status: 2, code: 'USAGE' });
  const theirs = (await place.answer<ChatReply>([...echo, 'theirs'], { env })).session_id;
  expect((await place.answer<ChatReply>([...echo, '-c', 'x'], { env })).session_id).toBe(theirs);
  expect((await chat('-c', 'x')).session_id).toBe(mine);
});

test('a deleted current session is not found, and no new one is created', async () => {
  const { session_id } = await chat('to be deleted');
  await place.output(['sessions', 'delete', session_id]);
  const before = await count();
  expectFailure(await place.parley([...echo, '-c', 'x']), { status: 5, code: 'SESSION_NOT_FOUND' });
  expectFailure(await place.parley([...echo, '-s', session_id, 'x']), {
    status: 5,
    code: 'SESSION_NOT_FOUND',
  });
  expect(await count()).toBe(before);
  await place.output(['sessions', 'restore', session_id]);
  expect((await chat('-c', 'back')).message_count).toBe(4);
});

test('two terminals have different current sessions', async () => {
  const talk = (name: string) =>
    place.terminal(
      `parley chat --quiet -m echo ${name} --json > ${name}.1; sleep 0.3;
       parley chat --quiet -m echo -c again --json > ${name}.2; sleep 0.3;
       parley chat --quiet -m echo -c "and again" --json > ${name}.3; cat ${name}.*`,
    );
  const shown = await Promise.all(['one', 'two', 'three'].map(talk));
  const sessions = shown.map(({ out }) =>
    out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).data.session_id),
  );
  expect(sessions.map((ids) => [ids.length, new Set(ids).size])).toEqual([
    [3, 1],
    [3, 1],
    [3, 1],
  ]);
  expect(new Set(sessions.flat()).size).toBe(3);
});

test('terminals of another system, which is known by no variable, are told apart by their devices', async () => {
  const env = environmentOf('darwin', place.path);
  const talk = (name: string) =>
    place.terminal(
      `parley chat --quiet -n -m echo ${name}; sleep 0.5; parley chat --quiet -n -m echo -c again --json > ${name}.json`,
      env,
    );
  await Promise.all(['first', 'second'].map(talk));
  const counts = ['first', 'second'].map((name) => {
    const { data } = JSON.parse(readFileSync(join(place.path, `${name}.json`), 'utf8'));
    return [data.session_id, data.message_count];
  });
  expect(counts.map(([, messages]) => messages)).toEqual([4, 4]);
  expect(new Set(counts.map(([id]) => id)).size).toBe(2);
});

test('a new terminal has no current session, and is told the last one of another terminal', async () => {
  const { session_id } = await chat('last');
  const before = await count();
  const { status, out } = await place.terminal('parley chat -n -m echo -c x');
  expect(status).toBe(2);
  expect(out).toContain('no session to continue');
  expect(out.replaceAll(/\s+/g, ' ')).toContain(`another terminal: parley chat -s ${session_id}`);
  expect(await count()).toBe(before);
});

test('a command whose session cannot be kept as the current one still gives its result', async () => {
  const own = new PlaceInProcess();
  onTestFinished(() => own.remove());
  const first = (await own.answer<ChatReply>([...echo, 'hello'])).session_id;
  const directory = join(own.dataDirectory, 'current');
  rmSync(directory, { recursive: true });
  writeFileSync(directory, 'no directory');
  const made: string[] = [];
  for (const words of [['create'], ['fork', first]]) {
    const { status, out, err } = await own.parley(['sessions', ...words]);
    expect(out).toMatch(/^ses_\w+\n$/);
    expect(err).toBe(
      `parley: ${directory} cannot be written (ENOTDIR). (CONFIG)\n` +
        `To continue this session, use -s ${out.trimEnd()}: -c does not know it.\n`,
    );
    expect(status).toBe(0);
    made.push(out.trimEnd());
  }
  const { items } = await own.answer<Page<Session>>(['sessions', 'list']);
  expect(items.map(({ session_id }) => session_id).toSorted()).toEqual([first, ...made].toSorted());
});

test('processes that set it at the same time leave one complete value', async () => {
  const replies = await Promise.all(Array.from({ length: 8 }, (_, index) => chat(`at once ${index}`)));
  const current = await chat('-c', 'after');
  expect(replies.map(({ session_id }) => session_id)).toContain(current.session_id);
  const folder = join(place.dataDirectory, 'current');
  for (const name of readdirSync(folder)) {
    expect(name).toMatch(/^[0-9a-f]{64}$/);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  }
});
