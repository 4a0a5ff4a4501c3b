// What was streamed before `kill -9` is kept as an interrupted reply, through the real program.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Message } from '../../src/service/session.ts';
import { openPacedModel, type PacedModel } from '../support/paced-model.ts';
import { endOf, type Running } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { servePlace } from '../support/served-place.ts';

let place: PlaceInProcess;
let model: PacedModel;
beforeEach(async () => {
  place = new PlaceInProcess();
  model = await openPacedModel();
  await place.output(['modes', 'add', 'paced', '--base-url', model.url, '--model', 'm', '--default']);
});
afterEach(async () => {
  await model.close();
  place.remove();
});

const patient = { timeout: 20_000 };
const partsNow = () =>
  place.rows<{ content: string }>('SELECT content FROM reply_parts ORDER BY session, at');
const messagesOf = async (session: string) =>
  (await place.answer<{ items: readonly Message[] }>(['sessions', 'messages', session])).items;
const shown = (messages: readonly Message[]) =>
  messages.map(({ finish_reason, content }) => `${finish_reason ?? 'user'}: ${content}`);

/** A chat that has shown the beginning of its reply. */
async function chatting(...words: string[]): Promise<Running> {
  const child = place.start(['chat', ...words, 'Tell']);
  child.stdin.end();
  child.stderr.resume();
  (await model.next()).say('Once upon ');
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return child;
}

async function kill(child: Running): Promise<void> {
  child.kill('SIGKILL');
  expect(await endOf(child)).toEqual({ status: null, signal: 'SIGKILL' });
}

test('the text of a killed chat is its interrupted reply at once, in all that reads the session', async () => {
  const child = await chatting('-n');
  await expect.poll(partsNow, patient).toEqual([{ content: 'Once upon ' }]);
  await kill(child);
  const id = (await place.output(['sessions', 'list', '--ids'])).trim();
  expect(await place.answer(['sessions', 'get', id])).toMatchObject({ message_count: 2 });
  const messages = await messagesOf(id);
  expect(messages).toMatchObject([
    { role: 'user', content: 'Tell', mode: 'paced' },
    { role: 'assistant', content: 'Once upon ', finish_reason: 'interrupted', mode: 'paced', usage: null },
  ]);
  expect(await place.output(['sessions', 'messages', id])).toContain('interrupted');
  expect(await place.output(['sessions', 'search', 'upon', '--json'])).toContain(id);
  expect(await place.output(['sessions', 'export', id, '--format', 'json'])).toContain('Once upon ');
  expect(partsNow()).toEqual([]);
});

test('the next chat in the session of a killed one has its text in the history', async () => {
  const child = await chatting('-n');
  await expect.poll(partsNow, patient).toHaveLength(1);
  await kill(child);
  const id = (await place.output(['sessions', 'list', '--ids'])).trim();
  const next = place.output(['chat', '-s', id, 'Go on']);
  const reply = await model.next();
  expect(reply.sent).toEqual(['Tell', expect.stringMatching(/^Once upon .*cut off/s), 'Go on']);
  reply.say('a time');
  reply.end();
  expect(await next).toContain('a time');
  expect(shown(await messagesOf(id))).toEqual([
    ...['user: Tell', 'interrupted: Once upon ', 'user: Go on', 'stop: a time'],
  ]);
});

test('a stored part leaves nothing behind when its reply ends', async () => {
  const child = place.start(['chat', '-n', 'Tell']);
  child.stdin.end();
  child.stdout.resume();
  const reply = await model.next();
  reply.say('Once upon ');
  await expect.poll(partsNow, patient).toEqual([{ content: 'Once upon ' }]);
  reply.say('a time');
  await expect.poll(partsNow, patient).toEqual([{ content: 'Once upon ' }, { content: 'a time' }]);
  reply.end();
  expect(await endOf(child)).toEqual({ status: 0, signal: null });
  expect(partsNow()).toEqual([]);
  const id = (await place.output(['sessions', 'list', '--ids'])).trim();
  expect(shown(await messagesOf(id))).toEqual(['user: Tell', 'stop: Once upon a time']);
});

test('the streams of a killed server are kept when the next one starts', async () => {
  const first = await servePlace(place);
  const key = (await place.output(['keys', 'create', '--project', 'team'])).trim();
  const headers = {
    ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    accept: 'text/event-stream',
  };
  // A response that nothing refers to is collected, which would close its connection.
  const responses: Response[] = [];
  for (const number of [1, 2, 3]) {
    const body = JSON.stringify({ mode: 'paced', message: `Tell ${number}` });
    const response = fetch(`${first.url}/v1/chat`, { method: 'POST', headers, body });
    const reply = await model.next();
    reply.say(`Once ${number}`);
    responses.push(await response);
  }
  await expect
    .poll(partsNow, patient)
    .toEqual([{ content: 'Once 1' }, { content: 'Once 2' }, { content: 'Once 3' }]);
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
  await first.end('SIGKILL');
  const second = await servePlace(place);
  const get = async <T>(path: string) => {
    const response = await fetch(`${second.url}${path}`, { headers });
    return ((await response.json()) as { data: { items: readonly T[] } }).data.items;
  };
  const sessions = await get<{ session_id: string; message_count: number }>('/v1/sessions');
  expect(sessions.map(({ message_count }) => message_count)).toEqual([2, 2, 2]);
  const lines = await Promise.all(
    sessions.map(async ({ session_id }) => shown(await get<Message>(`/v1/sessions/${session_id}/messages`))),
  );
  expect(lines.toSorted()).toEqual(
    [1, 2, 3].map((number) => [`user: Tell ${number}`, `interrupted: Once ${number}`]),
  );
  await second.end('SIGTERM');
});

test('an ephemeral chat stores no part in any file', async () => {
  const child = await chatting('--ephemeral');
  // Longer than the time to the first stored part.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  const files = readdirSync(place.dataDirectory, { recursive: true, withFileTypes: true });
  for (const file of files.filter((one) => one.isFile()))
    expect(readFileSync(join(file.parentPath, file.name)).includes('Once upon')).toBe(false);
  await kill(child);
});
