// The cost of a large body: other requests are served meanwhile, and it takes no more memory than a few times its bytes.
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RawConnection, rawAnswer } from './raw-connection.ts';
import { bodyOf, openServer, type ServerFixture } from './server-fixture.ts';

let server: ServerFixture;
beforeEach(async () => {
  server = await openServer();
});
afterEach(() => server.close());

/** A text of about this many bytes that repeats `unit` between two other texts. */
const filled = (before: string, unit: string, after: string, bytes: number) =>
  `${before}${Array(Math.ceil(bytes / (unit.length + 1)))
    .fill(unit)
    .join(',')}${after}`;
const kibibytes = 1024;
const importPath = '/v1/sessions/import';
const deletePath = '/v1/sessions/batch-delete';

/** The processor time of this thread, ms. The time of other threads and processes does not count, however busy the machine is. */
function threadMs(): number {
  const file = '/proc/thread-self/schedstat';
  if (existsSync(file)) return Number(readFileSync(file, 'utf8').split(' ')[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}

/** The longest processor time (ms) of one turn of the event loop during the work. Everything else had to wait that long. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  let before = threadMs();
  const measure = () => {
    const now = threadMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (!isOver) setImmediate(measure);
  };
  setImmediate(measure);
  await work();
  isOver = true;
  measure();
  return longest;
}

// Without limits, each of these bodies would block the event loop for 0.5 to 30 s.
test.each([
  ['many objects', 'messages', importPath, filled('{"session":{},"messages":[', '{}', ']}', 300 * kibibytes)],
  ['many numbers', 'session_ids', deletePath, filled('{"session_ids":[', '1', ']}', 300 * kibibytes)],
  ['many lists', 'session_ids', deletePath, filled('{"session_ids":[', '[]', ']}', 300 * kibibytes)],
  ['many objects', 'session', importPath, filled('{"session":[', '{}', '],"messages":[]}', 2048 * kibibytes)],
  ['deep lists', 'title', '/v1/sessions', `{"title":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`],
  [
    'many fields',
    'body',
    '/v1/sessions',
    `{${Array.from({ length: 100_000 }, (_, index) => `"field ${index}":0`).join(',')}}`,
  ],
])(
  'a body with %s in %s, at %s, is refused with that name and delays nobody',
  async (_much, field, path, body) => {
    let answer: Response | null = null;
    const turn = await longestTurn(async () => {
      answer = await server.ask('POST', path, { body });
    });
    const { error } = await bodyOf(answer as unknown as Response);
    expect(error).toMatchObject({ code: 'INVALID_REQUEST' });
    if (field === 'body') expect(error?.details?.[0]?.field).toMatch(/^field \d+$/);
    else expect(error?.details?.[0]?.field).toBe(field);
    expect(error?.details?.length).toBeLessThanOrEqual(20);
    expect(turn).toBeLessThan(100);
  },
);

const message = (position: number) => ({
  message_id: `m${position}`,
  position,
  role: position % 2 === 0 ? 'user' : 'assistant',
  content: `word ${position}`,
  mode: 'echo',
  finish_reason: position % 2 === 0 ? null : 'stop',
  usage: null,
  created_at: '2024-05-01T12:00:00.000Z',
});
const record = (count: number) => ({
  session: {
    session_id: `ses_of_${count}`,
    title: null,
    created_at: '2024-05-01T12:00:00.000Z',
    updated_at: '2024-05-01T12:00:00.000Z',
    message_count: count,
  },
  messages: Array.from({ length: count }, (_, position) => message(position)),
});

test('a session of very many messages is imported whole, and a repeated import with its key has no further effect', async () => {
  const body = JSON.stringify(record(9999));
  const headers = { 'idempotency-key': 'once' };
  for (let round = 0; round < 2; round += 1) {
    expect((await bodyOf(await server.ask('POST', importPath, { body, headers }))).data.message_count).toBe(
      9999,
    );
  }
  const { data } = await bodyOf(
    await server.ask(
      'GET',
      `/v1/sessions/ses_of_9999/messages?cursor=${Buffer.from('m9989').toString('base64url')}`,
    ),
  );
  expect(data.items.map(({ content }: { content: string }) => content)).toEqual(
    Array.from({ length: 9 }, (_, at) => `word ${9990 + at}`),
  );
});

test('a session with too many messages for a request is refused by their number', async () => {
  const { error } = await bodyOf(
    await server.ask('POST', importPath, { body: JSON.stringify(record(10_001)) }),
  );
  expect(error?.details).toEqual([{ field: 'messages', problem: 'holds more than 10000 items' }]);
});

test('large bodies of one key wait for each other, but delay no other key and no small body', async () => {
  await server.close();
  server = await openServer({ serverLimits: { largeBodyBytesPerKey: 1024 * kibibytes } });
  const { port } = await server.listen();
  const size = 800 * kibibytes;
  const head = (key: string, length: number) =>
    `POST /v1/sessions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${length}\r\n\r\n`;
  const body = `{"title":"${'x'.repeat(size - 12)}"}`;
  const first = await RawConnection.open(port);
  await first.send(head(server.key, size) + body.slice(0, -1));
  // After this time the server has read everything except the end.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const second = await RawConnection.open(port);
  void second.send(head(server.key, size) + body);
  let isAnswered = false;
  const answered = second.answer().then((answer) => {
    isAnswered = true;
    return answer;
  });
  const other = await RawConnection.open(port);
  await other.send(head(server.otherKey, size) + body);
  expect((await other.answer())?.status).toBe(400);
  expect((await server.ask('POST', '/v1/sessions', { body: { title: 'small' } })).status).toBe(200);
  expect(isAnswered).toBe(false);
  await first.send('}');
  expect((await first.answer())?.status).toBe(400);
  expect((await answered)?.status).toBe(400);
  for (const connection of [first, second, other]) connection.destroy();
});

test('a client that disconnects while it waits makes room for the next', async () => {
  await server.close();
  server = await openServer({ serverLimits: { largeBodyBytesPerKey: 1024 * kibibytes } });
  const { port } = await server.listen();
  const head = `POST /v1/sessions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\n`;
  const body = `{"title":"${'x'.repeat(800 * kibibytes)}"}`;
  for (let round = 0; round < 3; round += 1) {
    const gone = await RawConnection.open(port);
    await gone.send(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    gone.destroy();
  }
  const last = await RawConnection.open(port);
  await last.send(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
  expect((await last.answer())?.status).toBe(400);
  last.destroy();
});

test('after a chunked body is refused for its length, its connection serves the next request', async () => {
  await server.close();
  server = await openServer({ serverLimits: { bodyBytes: 100 * kibibytes } });
  const connection = await RawConnection.open((await server.listen()).port);
  const head = `HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\n`;
  const chunk = `${(40 * kibibytes).toString(16)}\r\n${'x'.repeat(40 * kibibytes)}\r\n`;
  await connection.send(
    `POST /v1/sessions ${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(4)}0\r\n\r\n`,
  );
  expect((await connection.answer())?.status).toBe(413);
  await connection.send(`GET /v1/models ${head}\r\n`);
  expect((await connection.answer())?.status).toBe(200);
  connection.destroy();
});

describe('slow bodies', () => {
  const head = (length: number) =>
    `POST /v1/sessions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${length}\r\n\r\n`;
  const body = `{"title":"${'x'.repeat(800 * kibibytes)}"}`;
  let port: number;
  beforeEach(async () => {
    await server.close();
    const mebibyte = 1024 * kibibytes;
    server = await openServer({
      serverLimits: { largeBodyBytesPerKey: mebibyte, largeBodyBytes: mebibyte },
    });
    port = (await server.listen()).port;
  });

  test('that were announced, but sent only in small part, delay no others', async () => {
    const slow = [await RawConnection.open(port), await RawConnection.open(port)];
    for (const connection of slow) await connection.send(head(body.length) + body.slice(0, 70 * kibibytes));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await rawAnswer(port, head(body.length), body))?.status).toBe(400);
    for (const connection of slow) connection.destroy();
  });

  test('that fill the room only in part complete one after the other', async () => {
    const connections = await Promise.all(Array.from({ length: 4 }, () => RawConnection.open(port)));
    for (const connection of connections)
      void connection.send(head(body.length) + body.slice(0, body.length / 2));
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (const connection of connections.toReversed()) void connection.send(body.slice(body.length / 2));
    const answers = await Promise.all(connections.map((connection) => connection.answer()));
    expect(answers.map((answer) => answer?.status)).toEqual([400, 400, 400, 400]);
    for (const connection of connections) connection.destroy();
  });
});
