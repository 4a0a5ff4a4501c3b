// A server whose listings never end: each command that reads all pages gives up.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';

const place = new PlaceInProcess();
let server: ScriptedServer;
/** The cursor of the page after the one with this cursor. */
let next: (cursor: string | null, count: number) => string | null;
let isEmpty = false;
let count = 0;

beforeAll(async () => {
  const time = '2026-01-01T00:00:00.000Z';
  server = await serve(({ path }, response) => {
    const { pathname, searchParams } = new URL(path, server.url);
    // The command asks only for the extensions.
    if (pathname.endsWith('/models')) return sendJson(response, { success: true, data: [] });
    count += 1;
    const session = { session_id: 's1', title: 't', created_at: time, updated_at: time, message_count: 2 };
    const hits = [{ message_id: 'm', role: 'user', created_at: time, snippet: 'x' }];
    const message = {
      ...{ message_id: 'm', position: 1, role: 'user', content: 'x', mode: 'm', finish_reason: null },
      ...{ usage: null, created_at: time, error_code: null },
    };
    const item = pathname.endsWith('/messages')
      ? message
      : pathname.endsWith('/search')
        ? { session, score: 1, hits }
        : session;
    const data = { items: isEmpty ? [] : [item], next_cursor: next(searchParams.get('cursor'), count) };
    sendJson(response, { success: true, data: pathname.endsWith('/s1') ? session : data });
  });
});
afterAll(async () => {
  await server.close();
  place.remove();
});

const commands = [
  'sessions list --ids',
  'sessions list --all',
  'sessions messages s1',
  'sessions export s1',
  'sessions export --all',
  'sessions delete --all --yes',
  'sessions delete --query x --yes',
];
/** Each with the number of commands that meet it, and the most requests of one. */
const ways: readonly [string, typeof next, boolean, number, number][] = [
  ['the same cursor again', () => 'c', false, commands.length, 10],
  ['a circle of cursors', (_cursor, index) => `c${index % 3}`, false, 2, 20],
  ['empty pages', (_cursor, index) => `c${index}`, true, 1, 1003],
];

test.each(ways)('a command gives up a listing with %s', async (_way, way, empty, met, maxRequests) => {
  [next, isEmpty] = [way, empty];
  for (const command of commands.slice(0, met)) {
    count = 0;
    const { status, err } = await place.parley([...command.split(' '), '--url', server.url], {
      env: { PARLEY_API_KEY: 'k' },
    });
    expect([command, status]).toEqual([command, 1]);
    expect(err).toContain('(BAD_RESPONSE)');
    expect(err).toContain('never end');
    expect(count).toBeLessThanOrEqual(maxRequests);
    expect(server.requests.some(({ method }) => method === 'DELETE')).toBe(false);
  }
});

test.each(['sessions export s1', 'sessions export s1 --format json', 'sessions export --all'])(
  '%s gives up a session whose messages never end',
  async (command) => {
    [next, isEmpty, count] = [(_cursor, index) => `c${index}`, false, 0];
    if (command.endsWith('--all')) next = (_cursor, index) => (index === 1 ? null : `c${index}`);
    const { status, out, err } = await place.parley([...command.split(' '), '--url', server.url], {
      env: { PARLEY_API_KEY: 'k' },
    });
    // Some of all sessions failed.
    expect(status).toBe(command.endsWith('--all') ? 3 : 1);
    expect(err).toContain('(BAD_RESPONSE)');
    expect(err).toContain('returned more messages than the 2 that session s1 should have');
    expect(out).toBe('');
    expect(count).toBeLessThanOrEqual(10);
  },
);

test('a listing with an empty page in it is read to its end', async () => {
  [next, isEmpty] = [(cursor) => (cursor === null ? 'c1' : cursor === 'c1' ? 'c2' : null), true];
  const { status } = await place.parley(['sessions', 'list', '--ids', '--url', server.url], {
    env: { PARLEY_API_KEY: 'k' },
  });
  expect(status).toBe(0);
});
