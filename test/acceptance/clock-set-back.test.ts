// The clock of the machine is set back by an hour while a command waits: the wait does not become longer.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Place } from '../support/parley.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';

const place = new Place();
/** When this file exists, the program's time of day is an hour earlier. */
const setBack = join(place.path, 'set-back');
const hook = join(place.path, 'clock.cjs');
let server: ScriptedServer;
beforeAll(async () => {
  writeFileSync(
    hook,
    `const now = Date.now; Date.now = () => now() - (require('fs').existsSync(${JSON.stringify(setBack)}) ? 3600000 : 0);`,
  );
  server = await serve(({ method, path }, response) => {
    if (path.endsWith('/slow')) {
      writeFileSync(setBack, '');
      return sendJson(response, { success: true, data: { session_id: 'slow' } });
    }
    // The server never responds.
    if (/silent|search/.test(path)) return setTimeout(() => writeFileSync(setBack, ''), 300);
    if (method !== 'DELETE') return sendJson(response, { success: true, data: { project_name: 'p' } });
    if (existsSync(setBack)) return sendJson(response, { success: true });
    // This moment is in the middle of the pause.
    setTimeout(() => writeFileSync(setBack, ''), 300);
    response.setHeader('Retry-After', '1');
    sendJson(response, { success: false, error: { code: 'RATE_LIMITED', message: 'slow' } }, 429);
  });
});
beforeEach(() => rmSync(setBack, { force: true }));
afterAll(async () => {
  await server.close();
  place.remove();
});

const env = () => ({ PARLEY_URL: server.url, PARLEY_API_KEY: 'k', NODE_OPTIONS: `--require ${hook}` });

test('a batch that a server refuses continues after its pause', async () => {
  const { status, out } = await place.parley(['sessions', 'delete', 'a', 'b', '--yes'], { env: env() });
  expect([status, out]).toEqual([0, 'deleted a\ndeleted b\n']);
});

test('a server that does not respond is given up after the time-out', async () => {
  const { status, err } = await place.parley(['sessions', 'get', 'silent', '--timeout', '1'], { env: env() });
  expect([status, err]).toEqual([6, expect.stringContaining('(TIMEOUT)')]);
});

test('the duration of a request in a trace is no negative one', async () => {
  const { err } = await place.parley(['sessions', 'get', 'slow', '--debug'], { env: env() });
  expect(err).toMatch(/^# status 200 after \d+ ms$/m);
});

test('the seconds of a waiting line go on', async () => {
  const screen = place.screen(['sessions', 'search', 'word'], { env: env() });
  try {
    await screen.until('it is set back', () => existsSync(setBack));
    await screen.until('seconds', () => /Searching [1-9]\d? s/.test(screen.text));
  } finally {
    screen.close();
  }
});
