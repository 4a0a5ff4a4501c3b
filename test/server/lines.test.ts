// Other replies, undo, redo and forks over HTTP: their responses, the operations that wait for a running reply, and replies whose reader
// disconnects.
import { afterEach, expect, test } from 'vitest';
import { ParleyError } from '../../src/service/errors.ts';
import { engineOf, finish } from '../support/embedded.ts';
import { nonconformity } from './conformance.ts';
import { eventsOf } from './event-reading.ts';
import { heldEngine } from './held-engine.ts';
import { bodyOf, type FixtureOptions, openServer, type ServerFixture } from './server-fixture.ts';

let server: ServerFixture;
afterEach(() => server.close());

const stream = { accept: 'text/event-stream' };

/** Sends a request, and checks the response against the OpenAPI document of the server. */
async function ask(method: string, path: string, body?: unknown) {
  const response = await server.ask(method, path, body === undefined ? {} : { body });
  const answer = await bodyOf(response);
  expect(nonconformity(method, path, response.status, answer)).toBeNull();
  return { status: response.status, ...answer };
}

/** A server with a session of these messages; returns the path of the session. */
async function chatted(options: FixtureOptions, ...messages: readonly string[]): Promise<string> {
  server = await openServer(options);
  let session_id: string | undefined;
  const mode = options.engines === undefined ? 'echo' : 'test';
  for (const message of messages) {
    const { data } = await ask('POST', '/v1/chat', { mode, message, ...(session_id && { session_id }) });
    ({ session_id } = data);
  }
  return `/v1/sessions/${session_id}`;
}

async function contents(path: string, query = ''): Promise<readonly string[]> {
  const { data } = await ask('GET', `${path}/messages${query}`);
  return data.items.map((message: { content: string }) => message.content);
}

/** The first reply of each session is whole; each later one is held. */
function heldAfterFirst() {
  const held = heldEngine();
  let replies = 0;
  const engine = held.engines.engine('test');
  const engines = engineOf(async function* (context, signal) {
    replies += 1;
    if (replies > 1) return yield* engine?.reply(context, { signal }) ?? [];
    yield { type: 'text', text: 'first' };
    yield finish;
  });
  return { ...held, engines };
}

test('each operation responds as its document says', async () => {
  const path = await chatted({}, 'one', 'two');
  const reply = await ask('POST', `${path}/regenerate`, { mode: 'eliza' });
  expect(reply).toMatchObject({ status: 200, data: { mode: 'eliza', message_count: 4 } });
  expect(await ask('POST', `${path}/undo`, {})).toMatchObject({ data: { message: { content: 'two' } } });
  expect(await ask('POST', `${path}/undo`)).toMatchObject({ data: { session: { message_count: 0 } } });
  expect((await ask('POST', `${path}/undo`, {})).error?.code).toBe('INVALID_REQUEST');
  expect(await ask('POST', `${path}/redo`, {})).toMatchObject({ data: { message: { content: 'one' } } });
  expect(await ask('POST', `${path}/redo`, {})).toMatchObject({ data: { session: { message_count: 4 } } });
  const fork = await ask('POST', `${path}/fork`, { through: 1, title: 'Two' });
  expect(fork.data).toMatchObject({ title: 'Two', message_count: 2, forked_at: 1 });
  expect(await contents(path, '?all=true')).toHaveLength(5);
  expect(await contents(path, '?all=false')).toHaveLength(4);
  const { headers } = await server.ask('GET', path);
  expect(headers.get('parley-extensions')?.split(', ')).toContain('lines');
});

test('an invalid body is refused with the name of the field', async () => {
  const path = await chatted({}, 'one');
  const faulty = [
    ['regenerate', { message: 'x' }, 'message'],
    ['regenerate', { mode: null }, 'mode'],
    ['undo', { turns: 2 }, 'turns'],
    ['redo', [], 'body'],
    ['fork', { through: '1' }, 'through'],
    ['fork', { through: 1.5 }, 'through'],
    ['fork', { title: 7 }, 'title'],
  ] as const;
  for (const [operation, body, field] of faulty) {
    const { status, error } = await ask('POST', `${path}/${operation}`, body);
    expect([status, error?.code, error?.details?.[0]?.field]).toEqual([400, 'INVALID_REQUEST', field]);
  }
  expect(await contents(path, '?all=true')).toEqual(['one', 'one']);
});

test('while a reply runs, all operations but a fork are busy, and a fork has the current reply', async () => {
  const held = heldAfterFirst();
  const path = await chatted({ engines: held.engines, limits: { turnWaitMs: 50 } }, 'one');
  const running = await server.ask('POST', `${path}/regenerate`, { headers: stream, body: {} });
  for (const operation of ['regenerate', 'undo', 'redo']) {
    const response = await server.ask('POST', `${path}/${operation}`, { body: {} });
    expect([operation, response.status, (await bodyOf(response)).error?.code]).toEqual([
      ...[operation, 409, 'SESSION_BUSY'],
    ]);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  const { data } = await ask('POST', `${path}/fork`, {});
  expect(await contents(`/v1/sessions/${data.session_id}`)).toEqual(['one', 'first']);
  held.release();
  expect(eventsOf(await running.text()).at(-1)?.event).toBe('done');
  expect(await contents(path)).toEqual(['one', 'half whole']);
  expect(await contents(path, '?all=true')).toHaveLength(3);
});

test('a client that disconnects removes no reply: the received part is an alternative, and the session is free', async () => {
  const held = heldAfterFirst();
  const path = await chatted({ engines: held.engines }, 'one');
  const running = await server.ask('POST', `${path}/regenerate`, { headers: stream, body: {} });
  const reader = running.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; !text.includes('half'); ) text += (await reader?.read())?.value ?? '';
  await reader?.cancel();
  await expect.poll(async () => (await contents(path, '?all=true')).length).toBe(3);
  expect(await contents(path)).toEqual(['one', 'first']);
  expect(await contents(path, '?all=true')).toContain('half ');
  held.release();
  expect((await ask('POST', `${path}/regenerate`, {})).data.reply).toBe('half whole');
});

test('a reply of either kind counts as a stream of its key', async () => {
  const held = heldAfterFirst();
  const options = { engines: held.engines, serverLimits: { streamsPerKey: 1 } };
  const path = await chatted(options, 'one');
  const running = await server.ask('POST', `${path}/regenerate`, { headers: stream, body: {} });
  const refused = await server.ask('POST', '/v1/chat', {
    headers: stream,
    body: { mode: 'test', message: 'two' },
  });
  expect([refused.status, (await bodyOf(refused)).error?.code]).toEqual([429, 'RATE_LIMITED']);
  held.release();
  await running.text();
  const again = await server.ask('POST', `${path}/regenerate`, { headers: stream, body: {} });
  expect(again.status).toBe(200);
  await again.text();
});

test('a failure of the model names the session and the message, and keeps the current reply', async () => {
  let replies = 0;
  const engines = engineOf(async function* () {
    replies += 1;
    yield { type: 'text', text: `reply ${replies}` };
    if (replies > 1) throw new ParleyError('ENGINE_FAILED', 'The model failed.');
    yield finish;
  });
  const path = await chatted({ engines }, 'one');
  const { data } = await ask('GET', `${path}/messages`);
  const place = { session_id: path.split('/').at(-1), message_id: data.items[0].message_id };
  const whole = await ask('POST', `${path}/regenerate`, {});
  expect([whole.status, whole.error]).toMatchObject([502, { code: 'ENGINE_FAILED', ...place }]);
  const streamed = await server.ask('POST', `${path}/regenerate`, { headers: stream, body: {} });
  const events = eventsOf(await streamed.text());
  expect(events.map(({ event }) => event)).toEqual(['session', 'delta', 'error']);
  expect(events.at(-1)?.body).toMatchObject({ error: { code: 'ENGINE_FAILED', ...place } });
  expect(await contents(path)).toEqual(['one', 'reply 1']);
  expect((await contents(path, '?all=true')).toSorted()).toEqual(['one', 'reply 1', 'reply 2', 'reply 3']);
});
