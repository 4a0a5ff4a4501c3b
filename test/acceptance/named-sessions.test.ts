// A session is named by its full id, the end of it, or its title. A full id needs no request, and nothing is done if several sessions match.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewSession, Page, Session } from '../../src/service/session.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';

const place = new PlaceInProcess();
const ids: Record<string, string> = {};
beforeAll(async () => {
  for (const title of ['Trip to Rome', 'Trip to Oslo', 'trip to oslo', 'Rent'])
    ids[title] = (
      await place.answer<NewSession>(['chat', '-m', 'echo', '--title', title, 'said'])
    ).session_id;
});
afterAll(() => place.remove());

const idOf = (title: string) => ids[title] ?? '';

async function idShown(text: string): Promise<string> {
  return (await place.answer<Session>(['sessions', 'get', text])).session_id;
}

test('a session is named by the last 6 or more characters of its id, by its title, or by the beginning of it', async () => {
  for (const length of [6, 8, 30]) expect(await idShown(idOf('Rent').slice(-length))).toBe(idOf('Rent'));
  expect(await idShown('Trip to Oslo')).toBe(idOf('Trip to Oslo'));
  expect(await idShown('rent')).toBe(idOf('Rent'));
  expect(await idShown('TRIP TO R')).toBe(idOf('Trip to Rome'));
  expectFailure(await place.parley(['sessions', 'get', idOf('Rent').slice(-5)]), {
    status: 5,
    code: 'SESSION_NOT_FOUND',
  });
});

test('a failure names the session that does not exist', async () => {
  for (const command of ['get', 'export', 'messages', 'fork']) {
    const outcome = await place.parley(['sessions', command, 'Trip to Bern']);
    expectFailure(outcome, { status: 5, code: 'SESSION_NOT_FOUND' });
    expect(outcome.err).toContain('title "Trip to Bern"');
  }
});

test('a chat in a session whose name cannot be an id says how to set a system prompt', async () => {
  const { status, err } = await place.parley(['chat', '-n', '-s', 'You are brief', 'Hello']);
  expect(status).toBe(5);
  expect(err).toContain('\nFor a system prompt: --system TEXT\n');
  expect((await place.parley(['chat', '-n', '-s', 'nobody', 'Hello'])).err).not.toContain('--system');
});

test('a failure for a single id names the id', async () => {
  for (const command of ['delete', 'restore', 'archive', 'pin']) {
    const outcome = await place.parley([
      'sessions',
      command,
      'ses_nobody',
      ...(command === 'delete' ? ['--yes'] : []),
    ]);
    expect([outcome.status, outcome.out]).toEqual([5, 'not_found ses_nobody\n']);
    expect(outcome.err).toContain('There is no session ses_nobody here. (SESSION_NOT_FOUND)');
    expect(outcome.err).toContain('--deleted');
  }
});

test('each command accepts such a name', async () => {
  const suffix = idOf('Rent').slice(-8);
  expect(await place.output(['sessions', 'messages', suffix])).toContain('said');
  expect(await place.output(['sessions', 'show', 'Rent', '--format', 'json'])).toContain('"said"');
  expect(await place.output(['sessions', 'export', 'Rent'])).toContain('# Rent');
  await place.output(['sessions', 'rename', suffix, 'Rent 2026']);
  expect((await place.answer<NewSession>(['chat', '-m', 'echo', '-s', 'rent', 'on'])).session_id).toBe(
    idOf('Rent'),
  );
  expect((await place.answer<Session>(['sessions', 'get', 'Rent 2026'])).message_count).toBe(4);
});

test('several matching sessions are listed with exit 2, and nothing is done', async () => {
  const { items } = await place.answer<Page<Session>>(['sessions', 'list']);
  for (const command of [
    ['get'],
    ['delete', '--yes'],
    ['rename', 'x'],
    ['messages'],
    ['export', '--format', 'md'],
  ]) {
    const [name = '', ...more] = command;
    const outcome = await place.parley(['sessions', name, 'trip', ...more]);
    expectFailure(outcome, { status: 2, code: 'USAGE' });
    for (const title of ['Trip to Rome', 'Trip to Oslo'])
      expect(outcome.err).toContain(`${idOf(title)}  "${title}"`);
  }
  expectFailure(await place.parley(['sessions', 'delete', 'Trip to Rome', 'trip', '--yes']), {
    status: 2,
    code: 'USAGE',
  });
  expectFailure(await place.parley(['chat', '-m', 'echo', '-s', 'trip', 'hi']), { status: 2, code: 'USAGE' });
  expect((await place.answer<Page<Session>>(['sessions', 'list'])).items).toEqual(items);
});

test('an error about a missing session repeats the given name, with the command that lists sessions', async () => {
  for (const words of [
    ['sessions', 'get', 'ses_never'],
    ['sessions', 'messages', 'ses_never'],
    ['sessions', 'rename', 'ses_never', 'x'],
    ['chat', '-m', 'echo', '-s', 'ses_never', 'hi'],
  ]) {
    const { status, err } = await place.parley(words);
    expect(status).toBe(5);
    expect(err).toMatch(/ses_never[\s\S]*parley sessions list/);
  }
  expect((await place.parley(['sessions', 'get', 'No such title'])).err).toContain('"No such title"');
});

test('a deletion by title shows the session and asks, and needs --yes if nobody can be asked', async () => {
  const id = (await place.answer<NewSession>(['sessions', 'create', '--title', 'Old notes'])).session_id;
  const refused = await place.parley(['sessions', 'delete', 'Old notes']);
  expectFailure(refused, { status: 2, code: 'USAGE' });
  expect(refused.err).toContain(`${id}  "Old notes", 0 messages, last active now`);
  expect(await idShown(id)).toBe(id);
  expect(await place.output(['sessions', 'delete', 'Old notes', '--yes'])).toBe(`deleted ${id}\n`);
  // A full id is unambiguous.
  expect(await place.output(['sessions', 'restore', 'old'])).toBe(`restored ${id}\n`);
  const { status, err } = await place.parley(['sessions', 'restore', 'never there']);
  expect(status).toBe(5);
  expect(err).toMatch(/\nOnly a deleted session can be restored\. See: parley sessions list --deleted\n$/);
  expect(await place.output(['sessions', 'delete', id])).toBe(`deleted ${id}\n`);
});

test('ids on stdin are full ids', async () => {
  const { status, out, err } = await place.parley(['sessions', 'delete', '-', '--yes'], { stdin: 'Rent\n' });
  expect({ status, out }).toEqual({ status: 5, out: 'not_found Rent\n' });
  expect(err).toBe(
    'parley: No session has the id "Rent". (SESSION_NOT_FOUND)\n' +
      'Standard input takes whole ids. The end of an id, or a title, is found only as an argument. See: parley sessions list --ids\n',
  );
  for (const command of ['restore', 'pin', 'export']) {
    const piped = await place.parley(['sessions', command], { stdin: 'Rent\n' });
    expect(piped.err).toMatch(/^parley: No session has the id "Rent"\. .*\nStandard input takes whole ids\./);
    expect(piped.status).toBe(5);
  }
  const redacted = await place.parley(['sessions', 'redact', '-', '--secrets', '--yes'], { stdin: 'Rent\n' });
  expect(redacted.err).toMatch(/^parley: No session has the id "Rent"\. \(SESSION_NOT_FOUND\)\n/);
});

describe('at a server', () => {
  let server: ScriptedServer;
  let extensions: string | null = null;
  const session = {
    ...{ session_id: 'ses_01k8zq4v7m3c5x9t2w6h0r1d8e', title: 'Rome', message_count: 2 },
    ...{ created_at: '2026-01-31T00:00:00.000Z', updated_at: '2026-01-31T00:00:00.000Z' },
  };
  const other = { ...session, session_id: 'ses_of_another' };
  beforeAll(async () => {
    server = await serve(({ path, body }, response) => {
      if (extensions !== null) response.setHeader('Parley-Extensions', extensions);
      const known =
        path.includes(session.session_id) || path.includes('conv-17') || /ses_01k8|conv-17/.test(body);
      // This server ignores filters.
      if (path.startsWith('/v1/sessions?'))
        sendJson(response, { success: true, data: { items: [other, session], next_cursor: null } });
      else if (path === '/v1/auth/verify') sendJson(response, { success: true, data: {} });
      else if (!known) sendJson(response, { success: false, error: { code: 'SESSION_NOT_FOUND' } }, 404);
      else if (path === '/v1/chat')
        sendJson(response, {
          success: true,
          data: { session_id: JSON.parse(body).session_id, reply: 'Hi.' },
        });
      else sendJson(response, { success: true, data: session });
    });
  });
  afterAll(() => server.close());

  async function asked(...words: readonly string[]) {
    const before = server.requests.length;
    const env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'k', NO_PROXY: '*' };
    const { status, err } = await place.parley([...words], { env });
    const requests = server.requests.slice(before).map(({ method, path, body }) => {
      const sessionId = body === '' ? '' : (JSON.parse(body).session_id ?? '');
      return `${method} ${path.replace(/\?.*/, '')} ${sessionId}`.trim();
    });
    return { status, err, requests };
  }

  test.each([null, '', 'archive, idempotency'])(
    'a full id is one request, whatever the server offers: %j',
    async (offered) => {
      extensions = offered;
      const { session_id: id } = session;
      expect((await asked('chat', '-m', 'x', '-s', id, 'hi')).requests).toEqual([`POST /v1/chat ${id}`]);
      expect((await asked('sessions', 'get', id)).requests).toEqual([`GET /v1/sessions/${id}`]);
      expect((await asked('sessions', 'delete', id)).requests).toEqual([`DELETE /v1/sessions/${id}`]);
      if (offered !== null) return;
      expect((await asked('chat', '-m', 'x', '-s', 'conv-17', 'hi')).requests).toEqual([
        'POST /v1/chat conv-17',
      ]);
      expect((await asked('sessions', 'get', 'conv-17')).requests).toEqual(['GET /v1/sessions/conv-17']);
    },
  );

  test('a server without an archive gets the text itself', async () => {
    extensions = null;
    const { status, requests } = await asked('chat', '-m', 'x', '-s', 'Rome', 'hi');
    expect({ status, requests }).toEqual({ status: 5, requests: ['POST /v1/chat Rome'] });
  });

  test('at a server with an archive the session is looked up, also if its listing ignores the filter', async () => {
    extensions = 'archive';
    const looked = ['GET /v1/sessions', 'GET /v1/sessions'];
    expect(await asked('chat', '-m', 'x', '-s', 'h0r1d8e', 'hi')).toMatchObject({
      status: 0,
      requests: ['POST /v1/chat h0r1d8e', 'GET /v1/sessions', `POST /v1/chat ${session.session_id}`],
    });
    expect((await asked('sessions', 'delete', 'never-that', '--yes')).requests).toEqual([
      'POST /v1/auth/verify',
      ...looked,
      'DELETE /v1/sessions/never-that',
    ]);
  });
});
