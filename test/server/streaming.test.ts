// Replies as streams: what is sent when, and how a reply ends if its reader disconnects, its key is revoked, or its server stops.
import { afterEach, expect, test } from 'vitest';
import { ParleyError } from '../../src/service/errors.ts';
import { anySession } from '../../src/service/session-archive.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { callWith, failureOf } from '../support/calls.ts';
import { engineOf, finish } from '../support/embedded.ts';
import { nonconformity } from './conformance.ts';
import { eventsOf } from './event-reading.ts';
import { heldEngine } from './held-engine.ts';
import { RawConnection } from './raw-connection.ts';
import { bodyOf, type FixtureOptions, openServer, type ServerFixture } from './server-fixture.ts';

let server: ServerFixture;
afterEach(() => server.close());

const stream = { accept: 'text/event-stream' };
const open = async (options: FixtureOptions = {}) => {
  server = await openServer(options);
};
const chat = (message: string, headers: Readonly<Record<string, string>> = stream, mode = 'test') =>
  server.ask('POST', '/v1/chat', { headers, body: { mode, message } });

async function keptReply(sessionId: string) {
  const { data } = await server.backend.archive.listMessages(callWith(server.key), sessionId, {
    limit: 200,
    cursor: null,
  });
  const { content, finish_reason } = data.items[1] ?? {};
  return { content, finish_reason };
}

/** Reads a stream until a text has arrived. Returns the received text, and how to read on. */
async function readUntil(response: Response, text: string) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let received = '';
  while (!received.includes(text)) {
    const step = await reader?.read();
    if (step === undefined || step.done) throw new Error(`The stream ended before ${text}: ${received}`);
    received += step.value;
  }
  return {
    received,
    cancel: () => reader?.cancel(),
    async rest() {
      for (;;) {
        const step = await reader?.read();
        if (step === undefined || step.done) return received;
        received += step.value;
      }
    },
  };
}

test('a stream is session, deltas and done, each with the envelope, and done is the JSON response', async () => {
  await open();
  const response = await chat('hello there', stream, 'echo');
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(response.headers.get('parley-extensions')).toContain('stream');
  const events = eventsOf(await response.text());
  expect(events.map(({ event }) => event)).toEqual([
    'session',
    ...events.slice(1, -1).map(() => 'delta'),
    'done',
  ]);
  expect(events.every(({ body }) => body.success === true)).toBe(true);
  expect(
    events
      .slice(1, -1)
      .map(({ body }) => body.data.text)
      .join(''),
  ).toBe('hello there');
  expect(nonconformity('POST', '/v1/chat', 200, events.at(-1)?.body)).toBeNull();
});

test.each([
  ['text/event-stream', true],
  ['text/event-stream, application/json', true],
  ['application/json;q=0.5, TEXT/EVENT-STREAM', true],
  ['application/json, text/event-stream', false],
  ['text/event-stream;q=0', false],
  ['*/*', false],
  ['text/html', false],
])('Accept: %s prefers a stream: %s', async (accept, streams) => {
  await open();
  const response = await chat('hi', { accept }, 'echo');
  expect(response.headers.get('content-type')).toBe(streams ? 'text/event-stream' : 'application/json');
  await response.text();
});

test('an error before the message is stored is an ordinary response, even if a stream was requested', async () => {
  await open();
  const response = await chat('hi', stream, 'oracle');
  expect([response.status, (await bodyOf(response)).error?.code]).toEqual([400, 'UNKNOWN_MODE']);
});

test('an engine that fails ends the stream with an error that names the session and the message', async () => {
  await open({
    engines: engineOf(async function* () {
      yield { type: 'text', text: 'half' };
      throw new Error('the model fell over');
    }),
  });
  const streamed = eventsOf(await (await chat('hello')).text());
  const sessionId = streamed[0]?.body.data.session_id;
  expect(streamed.map(({ event }) => event)).toEqual(['session', 'delta', 'error']);
  expect(streamed.at(-1)?.body).toMatchObject({
    success: false,
    error: { code: 'ENGINE_FAILED', session_id: sessionId, message_id: streamed[0]?.body.data.message_id },
  });
  expect(await keptReply(sessionId)).toEqual({ content: 'half', finish_reason: 'error' });
  const whole = await chat('hello', {});
  const body = await bodyOf(whole);
  expect([whole.status, body.error?.code]).toEqual([502, 'ENGINE_FAILED']);
  expect(body.error?.session_id).toMatch(/^ses_/);
  expect(nonconformity('POST', '/v1/chat', 502, body)).toBeNull();
});

test('a stream without events gets comment lines, which break nothing', async () => {
  const held = heldEngine();
  await open({ engines: held.engines, serverLimits: { heartbeatMs: 5 } });
  const reading = await readUntil(await chat('hello'), ': still here\n\n: still here\n\n');
  held.release();
  const events = eventsOf(await reading.rest());
  expect(events.map(({ event }) => event)).toEqual(['session', 'delta', 'delta', 'done']);
});

test('a reply of a megabyte arrives whole, through comments and chunks', async () => {
  const text = `${'é'.repeat(250_000)}${'\n'.repeat(250_000)}`;
  await open({
    serverLimits: { heartbeatMs: 1 },
    engines: engineOf(async function* () {
      yield { type: 'text', text };
      yield finish;
    }),
  });
  const events = eventsOf(await (await chat('hello')).text());
  expect(events.at(-1)?.body.data.reply).toBe(text);
});

test('no event is requested for which the reader has no room', async () => {
  let events = 0;
  await open({
    engines: engineOf(async function* () {
      for (; events < 100; events++) yield { type: 'text', text: 'word ' };
      yield finish;
    }),
  });
  const response = await chat('hello');
  const reading = await readUntil(response, 'event: delta');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(events).toBeLessThan(4);
  expect(eventsOf(await reading.rest()).at(-1)?.event).toBe('done');
});

test.each(['a stream', 'a whole answer'])(
  'a client that disconnects in %s stops the engine, and the received part is kept',
  async (form) => {
    const held = heldEngine();
    await open({ engines: held.engines });
    const { port } = await server.listen();
    const body = '{"mode":"test","message":"hello"}';
    const connection = await RawConnection.open(port);
    await connection.send(
      `POST /v1/chat HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\n` +
        `${form === 'a stream' ? 'Accept: text/event-stream\r\n' : ''}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    if (form === 'a stream') await connection.until('half ');
    else await expect.poll(() => held.begun()).toBe(1);
    const left = Date.now();
    connection.destroy();
    await expect.poll(() => held.stopped()).toBe(1);
    expect(Date.now() - left).toBeLessThan(1000);
    const { data } = await server.backend.archive.listSessions(callWith(server.key), {
      ...anySession,
      limit: 1,
      cursor: null,
    });
    const sessionId = data.items[0]?.session_id ?? '';
    await expect.poll(async () => (await keptReply(sessionId)).finish_reason).toBe('interrupted');
    expect(await keptReply(sessionId)).toEqual({ content: 'half ', finish_reason: 'interrupted' });
    await expect.poll(() => server.log().length).toBe(1);
    expect(server.log()[0]).toMatchObject({ status: 499, level: 'info' });
  },
);

test('the received part is kept when a reader cancels between two events', async () => {
  const held = heldEngine();
  await open({ engines: held.engines });
  const reading = await readUntil(await chat('hello'), 'event: session');
  await reading.cancel();
  const sessionId = eventsOf(reading.received)[0]?.body.data.session_id;
  await expect.poll(async () => (await keptReply(sessionId)).finish_reason).toBe('interrupted');
});

test.each([
  ['STORAGE_FULL', 507, 'STORAGE_FULL'],
  ['STORE_BUSY', 503, 'UNAVAILABLE'],
] as const)(
  'if %s prevents the storage of a reply, the response says that its message is stored',
  async (code, status, shownCode) => {
    const failing = (store: SessionStore) =>
      new Proxy(store, {
        get(target, name: keyof SessionStore) {
          if (name === 'endTurn')
            return () =>
              Promise.reject(new ParleyError(code, 'The store: nothing was changed, this was not kept.'));
          const member = target[name];
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
    await open({ around: failing });
    const whole = await chat('hello', {}, 'echo');
    const { error } = await bodyOf(whole);
    expect([whole.status, error?.code]).toEqual([status, shownCode]);
    const streamed = eventsOf(await (await chat('hello', stream, 'echo')).text()).at(-1)?.body.error;
    for (const failure of [error, streamed]) {
      expect(failure?.message).toContain(
        `The message is kept in session ${failure?.session_id}; the reply is not.`,
      );
      expect(failure?.message).not.toMatch(/nothing was|this was not kept/i);
      const { data } = await server.backend.archive.listMessages(
        callWith(server.key),
        failure?.session_id ?? '',
        {
          limit: 9,
          cursor: null,
        },
      );
      expect(data.items.map(({ message_id }) => message_id)).toEqual([failure?.message_id]);
    }
  },
);

test('a reply whose key is revoked stops within a second, and its received part is kept', async () => {
  const held = heldEngine();
  await open({ engines: held.engines });
  const created = await server.backend.administration.createKey({ project_name: 'first', key_name: 'short' });
  const headers = { ...stream, authorization: `Bearer ${created.key}` };
  const reading = await readUntil(await chat('hello', headers), 'half ');
  const other = await readUntil(await chat('hello'), 'half ');
  const whole = server.ask('POST', '/v1/chat', {
    headers: { authorization: headers.authorization },
    body: { mode: 'test', message: 'hello' },
  });
  await expect.poll(() => held.begun()).toBe(3);
  const revokedAt = performance.now();
  await server.backend.administration.revokeKey(created.key_id);
  const events = eventsOf(await reading.rest());
  expect(performance.now() - revokedAt).toBeLessThan(1000);
  const { session_id, message_id } = events[0]?.body.data ?? {};
  expect(events.at(-1)).toMatchObject({
    event: 'error',
    body: { error: { code: 'INVALID_API_KEY', session_id, message_id } },
  });
  expect(await keptReply(session_id)).toEqual({ content: 'half ', finish_reason: 'interrupted' });
  expect((await whole).status).toBe(401);
  expect((await chat('hello', headers)).status).toBe(401);
  held.release();
  expect(eventsOf(await other.rest()).at(-1)?.event).toBe('done');
});

test('a key has a limited number of streams at a time, and ended ones do not count', async () => {
  const held = heldEngine();
  await open({ engines: held.engines, serverLimits: { streamsPerKey: 2 } });
  const first = await readUntil(await chat('one'), 'half ');
  const second = await readUntil(await chat('two'), 'half ');
  const third = await chat('three');
  expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1']);
  held.release();
  await first.rest();
  await second.rest();
  expect(eventsOf(await (await chat('three')).text()).at(-1)?.event).toBe('done');
});

test('a stopping server lets replies end, and refuses new work with an error', async () => {
  const held = heldEngine();
  await open({ engines: held.engines });
  const reading = await readUntil(await chat('hello'), 'half ');
  const stopped = server.app.stop();
  const refused = await server.ask('POST', '/v1/chat', { body: { mode: 'test', message: 'late' } });
  expect([refused.status, (await bodyOf(refused)).error?.code]).toEqual([503, 'UNAVAILABLE']);
  expect([refused.headers.get('connection'), refused.headers.get('retry-after')]).toEqual(['close', '5']);
  expect((await server.ask('GET', '/readyz')).status).toBe(503);
  expect((await server.ask('GET', '/healthz')).status).toBe(200);
  held.release();
  const [text] = await Promise.all([reading.rest(), stopped]);
  expect(eventsOf(text).at(-1)?.event).toBe('done');
});

test('a draining server continues to serve, although it reports at once that it is not ready', async () => {
  await open({ serverLimits: { drainMs: 50 } });
  const stopped = server.app.stop();
  // Both begin before the drain can be over.
  const asking = server.ask('GET', '/readyz');
  const making = server.ask('POST', '/v1/sessions', { body: {} });
  const response = await asking;
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
  const made = await making;
  expect([made.status, made.headers.get('connection')]).toEqual([200, 'close']);
  await stopped;
  expect((await server.ask('POST', '/v1/sessions', { body: {} })).status).toBe(503);
});

test('a stopping server still listens while a reply runs', async () => {
  const held = heldEngine();
  await open({ engines: held.engines });
  const listening = await server.listen();
  const reading = await readUntil(await chat('hello'), 'half ');
  const stopped = listening.stop();
  for (const [path, status] of [
    ['/readyz', 503],
    ['/healthz', 200],
    ['/v1/sessions', 503],
  ] as const)
    expect((await fetch(`${listening.url}${path}`)).status).toBe(status);
  held.release();
  await Promise.all([reading.rest(), stopped]);
  await expect(fetch(`${listening.url}/readyz`)).rejects.toThrow();
});

test('the limit of streams is divided among the live servers, at least one for each', async () => {
  let servers = 2;
  const held = heldEngine();
  await open({ engines: held.engines, serverLimits: { streamsPerKey: 4 }, servers: () => servers });
  const streams = [await chat('one'), await chat('two')];
  expect((await chat('three')).status).toBe(429);
  servers = 1;
  streams.push(await chat('three'));
  servers = 100;
  expect((await chat('four')).status).toBe(429);
  held.release();
  for (const stream of streams) await stream.text();
  expect((await chat('four')).status).toBe(200);
});

test('the rate of a key is divided among the live servers', async () => {
  let servers = 4;
  let now = Date.now();
  await open({ serverLimits: { requestsPerSecond: 8 }, servers: () => servers, now: () => now });
  const statuses = async (count: number) => {
    const all: number[] = [];
    for (let sent = 0; sent < count; sent += 1)
      all.push((await server.ask('GET', '/v1/sessions/none')).status);
    return all;
  };
  expect(await statuses(3)).toEqual([404, 404, 429]);
  servers = 2;
  now += 1000;
  expect(await statuses(5)).toEqual([404, 404, 404, 404, 429]);
});

test('each of 200 streams at a stopping server ends with done or error, and each is kept', async () => {
  const slow = heldEngine();
  const mixed = engineOf(async function* (context, signal) {
    if (context.message === 'slow')
      return yield* slow.engines.engine('test')?.reply(context, { signal }) ?? [];
    yield { type: 'text', text: 'quick' };
    await new Promise((resolve) => setTimeout(resolve, 100));
    yield finish;
  });
  await open({ engines: mixed, serverLimits: { graceMs: 300 } });
  const listening = await server.listen();
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const body = JSON.stringify({ mode: 'test', message: index % 2 === 0 ? 'slow' : 'quick' });
      const connection = await RawConnection.open(listening.port);
      await connection.send(
        `POST /v1/chat HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\n` +
          `Accept: text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      return connection;
    }),
  );
  await Promise.all(answers.map((connection) => connection.until('event: session')));
  const [streams] = await Promise.all([
    Promise.all(answers.map((connection) => connection.answer())),
    listening.stop(),
  ]);
  const ends = streams.map((answer) => eventsOf(answer?.body ?? '').at(-1));
  expect(ends.filter((end) => end?.event === 'done')).toHaveLength(100);
  const errors = ends.filter((end) => end?.event === 'error');
  expect(errors).toHaveLength(100);
  expect(new Set(errors.map((end) => end?.body.error.code))).toEqual(new Set(['UNAVAILABLE']));
  for (const end of errors) {
    expect(await keptReply(end?.body.error.session_id)).toEqual({
      content: 'half ',
      finish_reason: 'interrupted',
    });
  }
}, 60_000);

test('a stop also stops the engine of a reply whose reader has stalled', async () => {
  const held = heldEngine();
  await open({ engines: held.engines, serverLimits: { graceMs: 20 } });
  const reading = await readUntil(await chat('hello'), 'event: session');
  await server.app.stop();
  const sessionId = eventsOf(reading.received)[0]?.body.data.session_id;
  expect((await keptReply(sessionId)).finish_reason).toBe('interrupted');
  expect(eventsOf(await reading.rest()).at(-1)).toMatchObject({
    event: 'error',
    body: { error: { code: 'UNAVAILABLE', session_id: sessionId } },
  });
});

test('two servers on one store see each other’s sessions, and the turns of one session do not interleave', async () => {
  await open();
  const other = await openServer({ directory: server.directory });
  try {
    const created = await bodyOf(await server.ask('POST', '/v1/sessions', { body: { title: 'shared' } }));
    const { session_id } = created.data;
    const headers = { authorization: `Bearer ${server.key}` };
    const turns = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? server : other).ask('POST', '/v1/chat', {
          headers,
          body: { mode: 'echo', message: `turn ${index}`, session_id },
        }),
      ),
    );
    expect(turns.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const { data } = await bodyOf(await other.ask('GET', `/v1/sessions/${session_id}/messages`, { headers }));
    const contents: string[] = data.items.map(({ content }: { content: string }) => content);
    expect(contents).toHaveLength(20);
    for (let turn = 0; turn < 20; turn += 2) expect(contents[turn + 1]).toBe(contents[turn]);
  } finally {
    await other.close();
  }
});

test('the store can be closed at any time: requests to a closed store are UNAVAILABLE', async () => {
  await open();
  await server.backend.close();
  const error = await failureOf(server.backend.service.models(callWith(server.key)));
  expect(error.code).toBe('UNAVAILABLE');
  expect((await server.ask('GET', '/v1/models')).status).toBe(503);
});
