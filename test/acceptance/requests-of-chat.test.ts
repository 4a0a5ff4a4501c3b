// How many requests a chat sends to a server: one, also where it goes on with the session of `-c`, or with one that is named by its full id.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openServer, type ServerFixture } from '../server/server-fixture.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const place = new PlaceInProcess();
let server: ServerFixture;

beforeAll(async () => {
  server = await openServer();
  const { url } = await server.listen();
  const login = ['login', '--url', url, '--profile', 'team', '--key-stdin'];
  await place.output([...login, '--quiet'], { stdin: server.key });
});
afterAll(async () => {
  await server.close();
  place.remove();
});

/** The session of the chat, and its requests. */
async function chat(...words: readonly string[]) {
  const before = server.log().length;
  const { session_id } = await place.answer<{ session_id: string }>(['chat', '-n', ...words, 'Hello']);
  const requests = server
    .log()
    .slice(before)
    .map(({ method, path }) => `${method} ${path}`);
  return { session_id, requests };
}

test('a new session, -c and the session used last are one request each', async () => {
  const turn = ['POST /v1/chat'];
  const { session_id, requests } = await chat('-m', 'echo');
  expect(requests).toEqual(turn);
  expect((await chat()).requests).toEqual(turn);
  expect((await chat('-c')).requests).toEqual(turn);
  expect((await chat('-c')).session_id).not.toBe(session_id);
  const other = await chat('-s', session_id, '-m', 'echo');
  expect(other).toEqual({ session_id, requests: turn });
  expect(await chat('-s', session_id)).toEqual({ session_id, requests: turn });
  expect(await chat('-c')).toEqual({ session_id, requests: turn });
});

test('another session goes on in its own mode, which is asked for where -m does not name one', async () => {
  const { session_id } = await chat('-m', 'echo');
  await chat('-m', 'eliza');
  const { requests } = await chat('-s', session_id);
  expect(requests).toEqual([`GET /v1/sessions/${session_id}`, 'POST /v1/chat']);
  expect(await place.output(['chat', '-n', '-c', 'said in echo'])).toBe('said in echo\n');
});
