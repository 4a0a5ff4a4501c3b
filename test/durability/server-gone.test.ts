// Three real servers over one PostgreSQL behind a balancer: one is killed and one is stopped, each while it streams a reply, and the
// conversation goes on.
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { eventsOf } from '../server/event-reading.ts';
import { heldEngine } from '../server/held-engine.ts';
import { openServer, type ServerFixture } from '../server/server-fixture.ts';
import { balance } from '../support/balancer.ts';
import { openPacedModel, type PacedModel } from '../support/paced-model.ts';
import { Place } from '../support/parley.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { postgresOptions } from '../support/postgres-store.ts';
import type { ListeningServer } from '../support/scripted-server.ts';
import { type ServedPlace, servePlace } from '../support/served-place.ts';

let database: PostgresServer;
let model: PacedModel;
let place: Place;
let servers: readonly ServedPlace[];
let balancer: ListeningServer;
let key: string;

beforeAll(async () => {
  database = await startPostgres([]);
  model = await openPacedModel();
  place = new Place();
  const env = { PARLEY_STORE: `postgres://${database.user}@127.0.0.1:${database.port}/postgres` };
  await place.output(['modes', 'add', 'paced', '--base-url', model.url, '--model', 'm'], { env });
  servers = await Promise.all([1, 2, 3].map(() => servePlace(place, ['--drain', '1'], env)));
  key = (await place.output(['keys', 'create', '--project', 'team'], { env })).trim();
  balancer = await balance(servers.map(({ port }) => port));
}, 60_000);

afterAll(async () => {
  await Promise.all(servers.map(({ end }) => end('SIGKILL')));
  await balancer.close();
  await model.close();
  place.remove();
  await database.stop();
});

interface Asked {
  readonly session_id?: string;
  readonly idempotencyKey?: string;
  readonly streams?: boolean;
}

function chat(url: string, message: string, { session_id, idempotencyKey, streams }: Asked = {}) {
  return fetch(`${url}/v1/chat`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(streams && { accept: 'text/event-stream' }),
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    },
    body: JSON.stringify({ mode: 'paced', message, ...(session_id && { session_id }) }),
  });
}

/** Reads a stream until it holds a text. */
async function readUntil(response: Response, text: string) {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let received = '';
  const more = async () => {
    const { done, value } = await reader.read();
    received += Buffer.from(value ?? []).toString();
    return done;
  };
  while (!received.includes(text)) if (await more()) throw new Error(`The stream ended: ${received}`);
  return {
    session: /"session_id":"(\w+)"/.exec(received)?.[1] ?? '',
    async rest() {
      while (!(await more()));
      return received;
    },
  };
}

async function get<T>(url: string, path: string): Promise<T> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  return ((await response.json()) as { data: T }).data;
}

async function contents(session: string) {
  type Page = { items: { content: string; finish_reason: string | null }[] };
  const { items } = await get<Page>(balancer.url, `/v1/sessions/${session}/messages`);
  return items.map(({ content, finish_reason }) => [content, finish_reason]);
}

test('after a server was killed, its session continues at another server, with the text that was streamed', async () => {
  const [killed] = servers as [ServedPlace];
  const streaming = chat(killed.url, 'Tell', { streams: true, idempotencyKey: 'tell' });
  (await model.next()).say('Once upon');
  const { session } = await readUntil(await streaming, 'Once upon');
  await expect
    .poll(() => database.rows('SELECT content FROM parley.reply_parts'))
    .toEqual([{ content: 'Once upon' }]);
  const gone = once(killed.child, 'exit');
  killed.child.kill('SIGKILL');
  await gone;

  const next = chat(balancer.url, 'And then?', { session_id: session });
  const reply = await model.next();
  reply.say('a princess.');
  reply.end();
  expect(await (await next).json()).toMatchObject({ data: { session_id: session, message_count: 4 } });
  expect(await contents(session)).toEqual([
    ['Tell', null],
    ['Once upon', 'interrupted'],
    ['And then?', null],
    ['a princess.', 'stop'],
  ]);
}, 60_000);

test('a stopping server reports that it is not ready, still serves for a while, and lets its reply end', async () => {
  const [, stopped, other] = servers as [ServedPlace, ServedPlace, ServedPlace];
  const streaming = chat(stopped.url, 'Tell', { streams: true });
  const reply = await model.next();
  reply.say('Once ');
  const stream = await readUntil(await streaming, 'Once ');
  const ended = stopped.end('SIGTERM');
  await expect.poll(async () => (await fetch(`${stopped.url}/readyz`)).status).toBe(503);
  const made = await fetch(`${stopped.url}/v1/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{}',
  });
  // On a busy machine the drain period may be over by now.
  expect([200, 503]).toContain(made.status);
  expect(made.headers.get('connection')).toBe('close');
  reply.say('upon a time.');
  reply.end();
  expect(await stream.rest()).toContain('event: done');
  expect((await ended).status).toBe(143);

  const next = chat(other.url, 'And then?', { session_id: stream.session });
  const last = await model.next();
  last.say('The end.');
  last.end();
  expect((await next).status).toBe(200);
  expect((await contents(stream.session)).map(([, reason]) => reason)).toEqual([null, 'stop', null, 'stop']);
}, 60_000);

test('a reply that outlasts the grace period of its server can be repeated with its key at another server at once', async () => {
  const held = heldEngine();
  const open = (owner: string) =>
    openServer({
      engines: held.engines,
      owner: { id: owner, isGone: () => false },
      serverLimits: { graceMs: 20 },
      openStore: async () =>
        (await openPostgresStore(postgresOptions(database, { server: { owner } }))).store,
    });
  const [first, second] = await Promise.all([open('first'), open('second')]);
  const ask = (server: ServerFixture) =>
    server.ask('POST', '/v1/chat', {
      headers: { accept: 'text/event-stream', 'idempotency-key': 'handed-over' },
      body: { mode: 'test', message: 'hello' },
    });
  const cut = (await ask(first)).text();
  await expect.poll(held.begun).toBe(1);
  await first.app.stop();
  await first.close();
  const error = eventsOf(await cut).at(-1)?.body.error;
  expect(error).toMatchObject({ code: 'UNAVAILABLE', session_id: expect.any(String) });
  held.release();
  const done = eventsOf(await (await ask(second)).text()).at(-1);
  const { session_id } = error;
  expect(done).toMatchObject({ event: 'done', body: { data: { session_id, reply: 'half whole' } } });
  expect(done?.body.data.message_count).toBe(2);
  await second.close();
});
