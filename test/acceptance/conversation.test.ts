// The first minute with Parley: a conversation that keeps its context, and sessions that no other project sees.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CreatedKey } from '../../src/service/administration.ts';
import type { Message, NewSession, Page, Session } from '../../src/service/session.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const place = new PlaceInProcess();
afterAll(() => place.remove());

test('a conversation continues with -c, with its context', async () => {
  const own = new PlaceInProcess();
  const { status, out } = await own.shell(
    'parley chat "My name is Ada" && parley chat -c "What is my name?" --mode eliza',
  );
  expect(status).toBe(0);
  expect(out.trimEnd().split('\n').at(-1)).toContain('Ada');
  const { items } = await own.answer<Page<Session>>(['sessions', 'list']);
  expect(items).toEqual([expect.objectContaining({ message_count: 4, title: 'My name is Ada' })]);
  own.remove();
});

test('echo returns words and piped bytes unchanged', async () => {
  const { bytes, err } = await place.shell(`printf 'a\\r\\nb' | parley chat --quiet --mode echo "Say:"`);
  expect(bytes).toEqual(Buffer.from('Say:\n\na\r\nb\n'));
  expect(err).toBe('');
});

test('a new session has exactly the four fields of the interface document', async () => {
  const { out } = await place.shell('parley sessions create --title Nightly --json --quiet | cat');
  expect(JSON.parse(out)).toEqual({
    success: true,
    data: {
      session_id: expect.stringMatching(/^ses_[0-9a-z]{26}$/),
      title: 'Nightly',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      message_count: 0,
    },
  });
  expect(Object.keys(JSON.parse(out).data)).toEqual(['session_id', 'title', 'created_at', 'message_count']);
  expect(await place.answer<NewSession>(['sessions', 'create'])).toMatchObject({ title: null });
});

test('a session is shown, listed, read and renamed', async () => {
  const own = new PlaceInProcess();
  const id = (await own.output(['sessions', 'create', '--title', 'Before'])).trimEnd();
  await own.output(['chat', '-s', id, '-m', 'echo', 'one']);
  expect(await own.output(['sessions', 'rename', id, 'After', 'é'])).toBe('');
  const session = await own.answer<Session>(['sessions', 'get', id]);
  expect(session).toMatchObject({ session_id: id, title: 'After é', message_count: 2 });
  expect((await own.answer<Page<Session>>(['sessions', 'list'])).items).toEqual([session]);
  const { items } = await own.answer<Page<Message>>(['sessions', 'messages', id]);
  expect(items.map(({ position, role, content, mode }) => [position, role, content, mode])).toEqual([
    [0, 'user', 'one', 'echo'],
    [1, 'assistant', 'one', 'echo'],
  ]);
  expect(await own.output(['sessions', 'messages', id])).toMatch(
    /^## user, .*\n\none\n\n## assistant \(echo\), .*\n\none\n$/,
  );
  expect(await own.output(['sessions', 'get', id])).toContain(`session_id: ${id}\ntitle: After é\n`);
  own.remove();
});

test('sessions are shown by ids from stdin, as a listing writes them', async () => {
  const own = new PlaceInProcess();
  const ids = [await own.newSession(), await own.newSession()];
  const stdin = `${ids.join('\n')}\n`;
  for (const words of [
    ['sessions', 'get'],
    ['sessions', 'get', '-'],
  ]) {
    const lines = (await own.output([...words, '--json'], { stdin })).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).data.session_id)).toEqual(ids);
  }
  const missing = await own.parley(['sessions', 'get', '-'], { stdin: `${ids[0]}\nses_none\n` });
  expect(missing.status).toBe(3);
  expect(missing.out).toContain(`session_id: ${ids[0]}\n`);
  const refused = await own.parley(['sessions', 'get']);
  expectFailure(refused, { status: 2, code: 'USAGE' });
  expect(refused.err).toMatch(/Pass ids as arguments, or pipe them in\.\n$/);
  expect(await own.parley(['sessions', 'get', '-'], { stdin: '' })).toMatchObject({
    ...{ status: 0, out: '' },
    err: 'Standard input has no ids: nothing was shown.\n',
  });
  own.remove();
});

test('sessions get takes only whole ids from stdin, and one missing session is one failure', async () => {
  const own = new PlaceInProcess();
  const id = (await own.output(['sessions', 'create', '--title', 'Oslo'])).trim();
  for (const text of ['Oslo', id.slice(-8)]) {
    expect((await own.parley(['sessions', 'get', text])).status).toBe(0);
    const outcome = await own.parley(['sessions', 'get'], { stdin: `${text}\n` });
    expectFailure(outcome, { status: 5, code: 'SESSION_NOT_FOUND' });
    expect(outcome.err).toContain('Standard input takes whole ids.');
    const { status, out } = await own.parley(['sessions', 'get', '-'], { stdin: `${text}\n${id}\n` });
    expect(status).toBe(3);
    expect(out).toContain(`session_id: ${text}\nerror: SESSION_NOT_FOUND\n\nsession_id: ${id}\n`);
  }
  own.remove();
});

test('a reply is one body, or one event per line', async () => {
  const body = JSON.parse(await place.output(['chat', '-m', 'echo', 'x', '--json']));
  expect(body).toMatchObject({ success: true, data: { reply: 'x', mode: 'echo', finish_reason: 'stop' } });
  const lines = await place.output(['chat', '-m', 'echo', 'y', '--json-stream']);
  const events = lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.map(({ event, success }) => [event, success])).toEqual([
    ['session', true],
    ['delta', true],
    ['done', true],
  ]);
  expect(events[2].data).toMatchObject({ reply: 'y', session_id: events[0].data.session_id });
  expect(await place.output(['chat', '-m', 'echo', 'z', '--no-stream'])).toBe('z\n');
});

test('verify shows the project of the key, and models lists the modes', async () => {
  expect(await place.answer(['verify'])).toMatchObject({
    project_name: 'default',
    key_id: expect.stringMatching(/^key_/),
  });
  expect(await place.output(['verify'])).toMatch(/^project_name: default$/m);
  const { out, err } = await place.parley(['models']);
  expect(out.split('\n').map((line) => line.split('\t').slice(0, 3))).toEqual([
    ['*', 'eliza', 'eliza'],
    ['', 'echo', 'echo'],
    [''],
  ]);
  expect(err).toMatch(/need no model.*parley login --url/s);
});

/** Every request that a project can make about a session, and its result. */
const ways: readonly (readonly [string, (id: string) => readonly string[]])[] = [
  ['get', (id) => ['sessions', 'get', id]],
  ['delete', (id) => ['sessions', 'delete', id]],
  ['chat', (id) => ['chat', '-m', 'echo', '-s', id, 'hello']],
  ['messages', (id) => ['sessions', 'messages', id]],
  ['rename', (id) => ['sessions', 'rename', id, 'taken']],
  ['restore', (id) => ['sessions', 'restore', id]],
];

let theirs = '';
let deleted = '';
let other: { PARLEY_API_KEY: string };

beforeAll(async () => {
  theirs = (await place.output(['sessions', 'create', '--title', 'secret'])).trimEnd();
  const created = await place.answer<CreatedKey>(['keys', 'create', '--project', 'other']);
  expect(created).toMatchObject({
    project_name: 'other',
    key: expect.stringMatching(/^pk_[0-9A-Za-z]{33}$/),
  });
  other = { PARLEY_API_KEY: created.key };
  deleted = (await place.output(['sessions', 'create'], { env: other })).trimEnd();
  await place.output(['sessions', 'delete', deleted], { env: other });
});

test.each(ways)(
  "%s of another project's session has the output of one that never existed",
  async (name, args) => {
    const never = 'ses_01m7yt10msccamajvw809w7d4v';
    const ids = name === 'restore' ? [theirs, never] : [theirs, never, deleted];
    const bodies = await Promise.all(
      ids.map(async (id) => {
        const { status, out } = await place.parley([...args(id), '--json'], { env: other });
        expect(status).toBe(5);
        expect(out).toContain('SESSION_NOT_FOUND');
        return out.replaceAll(id, 'ID').replace(/"request_id":"[^"]+"/, '"request_id":""');
      }),
    );
    expect(new Set(bodies).size).toBe(1);
    const inWords = await place.parley(args(theirs), { env: other });
    expectFailure(
      { ...inWords, out: inWords.out.replace(`not_found ${theirs}\n`, '') },
      { status: 5, code: 'SESSION_NOT_FOUND' },
    );
    expect(await place.answer<Session>(['sessions', 'get', theirs])).toMatchObject({
      title: 'secret',
      message_count: 0,
    });
  },
);
