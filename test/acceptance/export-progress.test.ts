// An export at a terminal shows a bar, which is erased at the end, and then a summary instead of a line per session.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';

const time = '2024-05-01T12:00:00.000Z';
const ids = ['ses_a', 'ses_b', 'ses_c'];

let place: PlaceInProcess;
let server: ScriptedServer;
/** Lets the server respond with the second session. */
let goOn: () => void;

beforeEach(async () => {
  place = new PlaceInProcess();
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  server = await serve(async ({ path }, response) => {
    const [, id = ''] = /^\/v1\/sessions\/([^/?]+)/.exec(path) ?? [];
    if (id === 'ses_b') await held;
    const items = ids.map((session_id) => ({ ...session, session_id }));
    if (path.startsWith('/v1/sessions?') || path.includes('/messages'))
      return sendJson(response, {
        success: true,
        data: { items: path.includes('/messages') ? [] : items, next_cursor: null },
      });
    return sendJson(response, { success: true, data: { ...session, session_id: id } });
  });
});
afterEach(async () => {
  await server.close();
  place.remove();
});

const session = { title: null, created_at: time, updated_at: time, message_count: 0 };

const exporting = (...words: readonly string[]) =>
  place.screen(['sessions', 'export', '--all', '--format', 'json', '-o', 'out.jsonl', ...words], {
    env: { PARLEY_URL: server.url, PARLEY_API_KEY: 'k', NO_PROXY: '*' },
  });

test('the bar has the count and the total, and is erased at the end', async () => {
  const screen = exporting();
  await screen.until('a bar', () => /^\[=+> *\] 1 of 3, /m.test(screen.text));
  goOn();
  expect((await screen.ended).status).toBe(0);
  expect(screen.text.trim()).toBe('3 sessions exported.');
});

test('--verbose shows a line for each session', async () => {
  goOn();
  const screen = exporting('--verbose');
  expect((await screen.ended).status).toBe(0);
  expect(screen.text.trim().split('\n')).toEqual([
    ...ids.map((id) => `exported ${id}`),
    '3 sessions exported.',
  ]);
});

test('Ctrl-C ends an export, and leaves no file', async () => {
  const screen = exporting();
  await screen.until('a bar', () => screen.text.includes('1 of 3'));
  screen.type('\x03');
  expect((await screen.ended).status).toBe(130);
  expect(screen.text).not.toContain('1 of 3');
  expect(await place.shell('ls out.jsonl')).toMatchObject({ out: '' });
});
