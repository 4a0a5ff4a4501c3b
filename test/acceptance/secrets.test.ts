// Secrets in stored messages as their owner handles them: found, left out of exports, taken out of the store.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { base62Checksum } from '../../src/service/base62-checksum.ts';
import { openBasicServer } from '../support/basic-server.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { servePlace } from '../support/served-place.ts';

const token = (name: string) => {
  const random = name.padEnd(30, 'x');
  return `ghp_${random}${base62Checksum(random)}`;
};
const first = token('First');
const second = token('Second');
const card = '4242 4242 4242 4242';

const place = new PlaceInProcess();
let id = '';
let other = '';
const lines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

beforeAll(async () => {
  const answer = (...words: readonly string[]) =>
    place.answer<{ session_id: string }>(['chat', '-n', '-m', 'echo', ...words]);
  id = (await answer(`🙂 ${first} is mine`, '--system', `Use ${second}.`)).session_id;
  await answer('-s', id, '--regenerate');
  other = (await answer(`I pay with ${card}.`, '--param', `user=${second}`)).session_id;
  await answer('nothing here');
});
afterAll(() => place.remove());

describe('sessions search --secrets', () => {
  const search = ['sessions', 'search', '--secrets'];

  test('tells session, message, place and kind of each, hidden ones too, and never a value', async () => {
    const { out, err, status } = await place.parley([...search, '--json']);
    expect(status).toBe(0);
    const found = lines(out);
    const github = { session_id: id, kind: 'github_token', prefix: 'ghp_' };
    const inMessage = { ...github, place: 'message', start: 2, end: 42 };
    expect(found).toEqual([
      { ...github, message_id: null, position: null, place: 'title', start: 2, end: 42 },
      { ...github, message_id: null, position: null, place: 'system', start: 4, end: 44 },
      { ...inMessage, message_id: expect.stringMatching(/^msg_/), position: 0 },
      { ...inMessage, message_id: expect.stringMatching(/^msg_/), position: 1 },
      { ...inMessage, message_id: expect.stringMatching(/^msg_/), position: 1 },
      expect.objectContaining({ session_id: other, place: 'title', kind: 'card_number', prefix: '' }),
      expect.objectContaining({ session_id: other, place: 'parameters', kind: 'github_token' }),
      expect.objectContaining({ session_id: other, position: 0, start: 11, end: 30 }),
      expect.objectContaining({ session_id: other, position: 1 }),
    ]);
    expect(err).toBe('9 secrets in 2 sessions, of 7 messages: 6 github_token, 3 card_number.\n');
    const piped = await place.output(search);
    expect(piped.split('\n')[0]).toBe(`${id}\t\t\ttitle\t2\t42\tgithub_token\tghp_`);
    expect(`${out}${err}${piped}`).not.toMatch(/First|Second|4242/);
  });

  test('shows sentences and the progress at a terminal', async () => {
    const screen = place.screen(search);
    expect((await screen.ended).status).toBe(0);
    expect(screen.text).toContain(`${id}  message 0, characters 2 to 42: github_token (ghp_…)`);
    expect(screen.text).toContain('9 secrets in 2 sessions');
  });

  test('is the same through a server, and unsupported at one without an archive', async () => {
    const here = await place.output([...search, '--json']);
    const served = await servePlace(place, []);
    const login = ['login', '--profile', 'far', '--url', served.url, '--key-stdin'];
    const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'default']);
    await place.output(login, { stdin: key });
    expect(await place.output([...search, '--profile', 'far', '--json'])).toBe(here);
    await place.output(['profiles', 'use', 'local']);
    await served.end('SIGTERM');
    const basic = await openBasicServer({ ids: [] });
    const env = { PARLEY_URL: basic.url, PARLEY_API_KEY: 'key-1' };
    expectFailure(await place.parley(search, { env }), { status: 1, code: 'UNSUPPORTED' });
    await basic.close();
  });

  test.each([['word'], ['--cursor', 'x']])('goes with no %s', async (...words) => {
    expectFailure(await place.parley([...search, ...words]), { status: 2, code: 'USAGE' });
    expectFailure(await place.parley(['sessions', 'search']), { status: 2, code: 'USAGE' });
  });
});

describe('sessions export --redact', () => {
  test.each(['md', 'json', 'html', 'openai-jsonl'])(
    'leaves no secret in %s, and counts them',
    async (format) => {
      const { out, err } = await place.parley([
        'sessions',
        'export',
        '--all',
        '--redact',
        '--format',
        format,
      ]);
      expect(out).not.toMatch(/First|Second|4242/);
      expect(out).toContain('[redacted github_token]');
      expect(out).toContain('[redacted card_number]');
      expect(err).toContain('9 redacted: 6 github_token, 3 card_number\n');
    },
  );

  test('leaves none in the names of files either, and its JSON is imported again', async () => {
    const directory = join(place.path, 'out');
    await place.output(['sessions', 'export', '--all', '--redact', '-o', `${directory}/`]);
    for (const name of readdirSync(directory)) {
      expect(name + readFileSync(join(directory, name), 'utf8')).not.toMatch(/First|Second|4242/);
    }
    const target = new PlaceInProcess();
    const json = await place.output(['sessions', 'export', id, '--redact', '--format', 'json']);
    expect(await target.output(['sessions', 'import', '-'], { stdin: json })).toContain(`imported ${id}`);
    target.remove();
  });
});
