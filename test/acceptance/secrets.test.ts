// Secrets in stored messages: they are found, removed from exports, and removed from the store.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { base62Checksum } from '../../src/service/base62-checksum.ts';
import { openBasicServer } from '../support/basic-server.ts';
import { callWith } from '../support/calls.ts';
import { openEmbedded } from '../support/embedded.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { textsInFiles } from '../support/remaining-texts.ts';
import { sendJson, serve } from '../support/scripted-server.ts';
import { servePlace } from '../support/served-place.ts';
import { storedKey } from '../support/stored.ts';

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

  test('lists the session, message, place and kind of each, also in hidden messages, and never a value', async () => {
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

  test.each([
    [['--cursor', 'x']],
    [['--limit', '1']],
    [['--older-than', '90d']],
    [['--newer-than', '90d']],
    [['--title-match', '*']],
    [['--mode', 'echo']],
    [['--tag', 'work']],
    [['--user', 'ada']],
    [['--pinned']],
    [['--no-pinned']],
    [['--archived']],
  ])('refuses %j, because it reads every session', async (flags) => {
    const { out, err, status } = await place.parley([...search, ...flags]);
    expect({ out, status }).toEqual({ out: '', status: 2 });
    expect(err).toContain(flags[0]);
  });

  test('shows sentences and the progress at a terminal', async () => {
    const screen = place.screen(search);
    expect((await screen.ended).status).toBe(0);
    expect(screen.text).toContain(`${id}  message 0, characters 2 to 42: github_token (ghp_…)`);
    expect(screen.text).toContain('9 secrets in 2 sessions');
  });

  test('shows at a terminal how many sessions it has found while it counts the messages', async () => {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const time = '2024-05-01T12:00:00.000Z';
    const session = {
      session_id: 'ses_a',
      title: null,
      created_at: time,
      updated_at: time,
      message_count: 0,
    };
    const server = await serve(async ({ path }, response) => {
      const isFirst = path.startsWith('/v1/sessions?') && !path.includes('cursor=');
      if (path.includes('cursor=')) await held;
      const data = { items: isFirst ? [session] : [], next_cursor: isFirst ? 'next' : null };
      return sendJson(response, { success: true, data });
    });
    const screen = place.screen(search, {
      env: { PARLEY_URL: server.url, PARLEY_API_KEY: 'k', NO_PROXY: '*' },
    });
    await screen.until('the count', () => /^1 found/m.test(screen.text));
    goOn();
    expect((await screen.ended).status).toBe(0);
    expect(screen.text.trim()).toBe('No known kind of secret in 0 messages.');
    await server.close();
  });

  test('works the same through a server, and is unsupported at one without an archive', async () => {
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

  test.each([['word'], ['--cursor', 'x']])('cannot be combined with %s', async (...words) => {
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
      expect(err).toContain('9 secrets redacted: 6 github_token, 3 card_number.\n');
    },
  );

  test('leaves none in the names of files either, and its JSON can be imported', async () => {
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

describe('sessions redact', () => {
  let own: PlaceInProcess;
  let session = '';
  let fork = '';
  const redact = (...words: readonly string[]) => own.parley(['sessions', 'redact', ...words]);
  const historyFile = () => join(own.dataDirectory, 'history', 'local.jsonl');
  const typed = ['first', `${first} is mine`, 'last'];

  beforeEach(async () => {
    own = new PlaceInProcess();
    const answer = (...words: readonly string[]) =>
      own.answer<{ session_id: string }>(['chat', '-n', '-m', 'echo', ...words]);
    session = (await answer(`${first} is mine`, '--system', second, '--param', `user=${second}`)).session_id;
    await answer('-s', session, '--regenerate');
    await answer('-s', session, `${card} is undone`);
    await own.output(['sessions', 'undo', session]);
    fork = (await own.output(['sessions', 'fork', session])).trim();
    mkdirSync(join(own.dataDirectory, 'history'), { recursive: true });
    writeFileSync(historyFile(), typed.map((line) => `\n${JSON.stringify(line)}`).join(''));
  });
  afterEach(() => own.remove());

  test('replaces the secrets of a session, names the remaining copies, and finally leaves no byte in any file', async () => {
    const done = await redact(session, '--secrets', '--yes', '--json');
    expect([done.status, done.err.includes(`These texts are still in ${fork}`)]).toEqual([0, true]);
    expect(JSON.parse(done.out)).toEqual({
      ...{ session_id: session, status: 'redacted', messages: 5 },
      kinds: '6 github_token, 2 card_number',
    });
    expect(done.err).toContain('Not redacted, because');
    expect(done.err).not.toMatch(/First|Second|4242/);
    expect(readFileSync(historyFile(), 'utf8')).toBe(
      ['first', '[redacted github_token] is mine', 'last']
        .map((line) => `\n${JSON.stringify(line)}`)
        .join(''),
    );
    const { items } = await own.answer<{ items: { content: string }[] }>([
      'sessions',
      'messages',
      session,
      '--all',
    ]);
    expect(items.map(({ content }) => content)).toEqual([
      '[redacted github_token] is mine',
      '[redacted github_token] is mine',
      '[redacted github_token] is mine',
      '[redacted card_number] is undone',
      '[redacted card_number] is undone',
    ]);
    expect(await own.answer(['sessions', 'get', session])).toMatchObject({
      ...{ title: '[redacted github_token] is mine', system: '[redacted github_token]' },
      parameters: { user: '[redacted github_token]' },
    });
    const rest = await redact('--all', '--secrets', '--yes');
    expect([rest.status, rest.out]).toEqual([0, `unchanged ${session}\nredacted ${fork}\n`]);
    expect(rest.err).toContain('No session in the store contains these texts any more.');
    // The index contains words in lower case.
    const words = [first, second].map((secret) => secret.slice('ghp_'.length).toLowerCase());
    expect(await textsInFiles(own.path, [first, second, card, ...words])).toEqual([]);
    expect(await own.output(['sessions', 'search', '--secrets'])).toBe('');
  });

  test('replaces the whole text of a message, the title that it gave, and the typed line in the history', async () => {
    const done = await redact(session, '--message', '0', '--yes');
    expect([done.status, done.out]).toEqual([0, `redacted ${session}\n`]);
    const record = JSON.parse(await own.output(['sessions', 'export', session, '--format', 'json']));
    expect(record.messages.map(({ content }: { content: string }) => content)).toEqual([
      '[redacted message]',
      `${first} is mine`,
    ]);
    expect(record.session.title).toBe('[redacted message]');
    expect(readFileSync(historyFile(), 'utf8')).toContain('[redacted message]');
    const missing = await redact(session, '--message', '17', '--yes');
    expectFailure(missing, { status: 2, code: 'USAGE' });
  });

  test('replaces a short password only in its place', async () => {
    const message = 'https://ada:ab1@host.example/ about';
    writeFileSync(historyFile(), `\n${JSON.stringify(message)}\n"about ab1"`);
    const { session_id } = await own.answer<{ session_id: string }>(['chat', '-n', '-m', 'echo', message]);
    const done = await redact(session_id, '--secrets', '--yes');
    expect(done.err).toContain('were not searched for texts of fewer than 8 characters');
    expect(readFileSync(historyFile(), 'utf8')).toBe(
      `\n"https://ada:[redacted password_in_url]@host.example/ about"\n"about ab1"`,
    );
  });

  test('asks first, and shows its effect with --dry-run', async () => {
    const unasked = await redact(session, '--secrets');
    expectFailure(unasked, { status: 2, code: 'USAGE' });
    expect(unasked.err).toMatch(/3 texts in 5 messages of 1 session.*cannot be undone.*--yes/s);
    const dry = await redact(session, 'nope', '--secrets', '--dry-run');
    expect(dry.err).toMatch(/^\d+ texts? in \d+ messages? of 1 session would be replaced\.$/m);
    expect([dry.status, dry.out]).toEqual([3, `would_redact ${session}\nnot_found nope\n`]);
    expect((await textsInFiles(own.path, [first])).length).toBe(1);
    for (const words of [
      [session],
      [session, '--secrets', '--message', '0'],
      [session, fork, '--message', '0'],
      ['--all', session, '--secrets'],
    ])
      expectFailure(await redact(...words, '--yes'), { status: 2, code: 'USAGE' });
  });

  test('of a deleted session says that it must be restored first, and then works', async () => {
    await own.output(['sessions', 'delete', session]);
    const refused = await redact(session, '--secrets', '--yes');
    expectFailure(refused, { status: 5, code: 'SESSION_NOT_FOUND' });
    expect(refused.err).toContain(session);
    expect(refused.err).toMatch(/deleted session.*sessions restore.*sessions purge/);
    expect((await redact(session, 'nope', '--secrets', '--yes')).err).toContain('sessions restore');
    await own.output(['sessions', 'restore', session]);
    expect((await redact(session, '--secrets', '--yes')).status).toBe(0);
  });

  test('is refused while a turn runs, and for a server', async () => {
    const backend = await openEmbedded(own.dataDirectory);
    const call = callWith(storedKey(own));
    const chat = backend.service.chat(call, { mode: 'echo', message: 'more', session_id: session }, 'chunks');
    const events = chat[Symbol.asyncIterator]();
    await events.next();
    const busy = await redact(session, '--secrets', '--yes');
    expectFailure(busy, { status: 6, code: 'SESSION_BUSY' });
    for (let end = false; !end; end = (await events.next()).done ?? false);
    await backend.close();
    expect((await redact(session, '--secrets', '--yes')).status).toBe(0);
    const basic = await openBasicServer({ ids: [] });
    const env = { PARLEY_URL: basic.url, PARLEY_API_KEY: 'key-1' };
    expectFailure(await own.parley(['sessions', 'redact', session, '--secrets', '--yes'], { env }), {
      status: 1,
      code: 'UNSUPPORTED',
    });
    await basic.close();
  });

  test('completes the erasure of a redaction that was stopped', async () => {
    const backend = await openEmbedded(own.dataDirectory);
    const { project_id } = (await backend.service.verify(callWith(storedKey(own)))).data;
    const changes = { title: 'x' };
    await backend.administration.redactSession({ project_id, session_id: session, messages: [], changes });
    await backend.close();
    await own.output(['sessions', 'redact', session, '--secrets', '--yes']);
    const purge = ['sessions', 'purge', '--deleted-before', '0d', '--dry-run'];
    expect(await own.answer(purge)).toMatchObject({ unfinished: false });
  });
});
