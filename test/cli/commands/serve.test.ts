// `parley serve` as a process: its output, its end, and the data that survives a kill.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventsOf } from '../../server/event-reading.ts';
import { RawConnection } from '../../server/raw-connection.ts';
import { Place } from '../../support/parley.ts';
import { type ServedPlace, servePlace } from '../../support/served-place.ts';

let place: Place;
const served: ServedPlace[] = [];
beforeEach(() => {
  place = new Place();
});
afterEach(async () => {
  for (const one of served.splice(0))
    if (one.child.exitCode === null && one.child.signalCode === null) await one.end('SIGKILL');
  place.remove();
});

async function serve(...words: string[]): Promise<ServedPlace> {
  const one = await servePlace(place, words);
  served.push(one);
  return one;
}

const newKey = async () => (await place.output(['keys', 'create', '--project', 'team'])).trim();

/** Requests a streamed echo on a connection of its own. */
async function startChat(port: number, key: string, message: string): Promise<RawConnection> {
  const body = JSON.stringify({ mode: 'echo', message });
  const connection = await RawConnection.open(port);
  await connection.send(
    `POST /v1/chat HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
      `Accept: text/event-stream\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return connection;
}

/** A chat whose reply cannot end, because nobody reads it: each character takes six bytes, twice, and no socket holds a million. */
async function stalledChat(port: number, key: string, characters = 1_000_000): Promise<RawConnection> {
  const connection = await startChat(port, key, '\u0001'.repeat(characters));
  await connection.until('event: session');
  connection.socket.pause();
  return connection;
}

describe('what it says', () => {
  test('prints its address and the command for a login, and a line of JSON for each request', async () => {
    const server = await serve();
    const key = await newKey();
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${server.url}/v1/models`, { headers });
    expect(answer.status).toBe(200);
    // The ids of two requests have nothing in common, so that they do not reveal the number of requests in between.
    const other = await fetch(`${server.url}/v1/models`);
    const [first = '', second = ''] = [answer, other].map(
      ({ headers }) => headers.get('parley-request-id') ?? '',
    );
    expect([first, second]).toEqual([
      expect.stringMatching(/^req_[\da-f-]{36}$/),
      expect.stringMatching(/^req_/),
    ]);
    expect(first.slice(4, 12)).not.toBe(second.slice(4, 12));
    const { out, err } = await server.end('SIGTERM');
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    for (const text of [server.url, 'parley keys create', 'curl ', '/docs']) expect(out).toContain(text);
    const lines = err
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([200, 401].map((status) => ({ method: 'GET', path: '/v1/models', status })));
    expect(err).not.toContain(key);
  });

  test('names no address for a login that other machines cannot reach', async () => {
    const server = await serve('--host', '0.0.0.0');
    const { out } = await server.end('SIGTERM');
    expect(out).toContain(
      `\n  parley login --url http://HOST:${server.port} --insecure-http\n(HOST: the name or the address of this machine)\n`,
    );
  });

  test('prints lines for curl that work as they stand', async () => {
    const server = await serve();
    const key = await newKey();
    const curl = /curl [\s\S]*?-d '.*'/.exec(server.written.out)?.[0] ?? '';
    for (const row of server.written.out.split('\n')) expect(row.length).toBeLessThanOrEqual(80);
    const { out } = await place.shell(curl, { PARLEY_API_KEY: key });
    expect(JSON.parse(out)).toMatchObject({ success: true, data: { mode: 'eliza' } });
  });

  test.each(['echo', 'own.mode'])(
    'the lines for curl use the default of the served modes: %s',
    async (mode) => {
      const file = join(place.path, 'modes.yaml');
      writeFileSync(
        file,
        `default: ${mode}\nmodes:\n  own.mode:\n    base_url: http://127.0.0.1:1\n    model: m\n`,
      );
      const server = await serve('--modes', file);
      await expect.poll(() => server.written.out).toContain(`-d '{"mode":"${mode}","message":"Hello"}'`);
    },
  );

  test('the lines for curl use the default that the user chose', async () => {
    await place.output(['modes', 'default', 'echo']);
    const server = await serve();
    await expect.poll(() => server.written.out).toContain(`-d '{"mode":"echo","message":"Hello"}'`);
  });

  test('with --json, prints one line with the address', async () => {
    const server = await serve('--json');
    expect(JSON.parse(server.written.out)).toEqual({
      success: true,
      data: { url: server.url, host: '127.0.0.1', port: server.port, metrics: null },
    });
  });

  test('names a port in use, with the remedy', async () => {
    const server = await serve();
    const { status, err } = await place.parley(['serve', '--port', String(server.port)]);
    expect(status).toBe(2);
    expect(err).toContain(`port ${server.port} is in use`);
    expect(err).toContain('--port');
  });

  test.each([
    [['serve', '--port', '70000'], {}, 2],
    [['serve', '--port', 'x'], {}, 2],
    [['serve', '--host', '203.0.113.1', '--port', '0'], {}, 2],
    [['serve', '--port', '0'], { PARLEY_URL: 'http://127.0.0.1:1' }, 1],
    [['serve', '--port', '0', '--url', 'http://127.0.0.1:1'], { PARLEY_API_KEY: 'x' }, 1],
  ])('%j with %j is refused with status %i', async (words, env, expected) => {
    const { status, out, err } = await place.parley(words, { env });
    expect([status, out]).toEqual([expected, '']);
    expect(err).toMatch(/\S/);
  });
});

describe('how it ends', () => {
  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s ends it with status %i, also with idle connections', async (signal, expected) => {
    const server = await serve();
    const connection = await RawConnection.open(server.port);
    await connection.send('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await connection.answer();
    expect((await server.end(signal)).status).toBe(expected);
    await connection.closed();
  });

  test('the server ends after its replies', async () => {
    const server = await serve();
    // A third, so that a busy machine sends it within the remaining time.
    const connection = await stalledChat(server.port, await newKey(), 350_000);
    const ending = server.end('SIGTERM');
    connection.socket.resume();
    const answer = await connection.answer();
    expect(eventsOf(answer?.body ?? '').at(-1)?.event).toBe('done');
    expect((await ending).status).toBe(143);
  });

  test('a second signal ends it at once', async () => {
    const server = await serve();
    const connection = await stalledChat(server.port, await newKey());
    server.child.kill('SIGTERM');
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(503);
    // A signal within 100 ms of the first counts as the same one.
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(server.child.exitCode).toBeNull();
    const { status, err } = await server.end('SIGTERM');
    expect(status).toBe(143);
    // A server that waits for the reply and cuts it logs the request.
    expect(err).not.toContain('/v1/chat');
    connection.destroy();
  });
});

test('of 50 chats under a server that is killed, every message and reply that was acknowledged is there', async () => {
  const server = await serve();
  const key = await newKey();
  const chats = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      startChat(server.port, key, `message ${index} ${'word '.repeat(index * 400)}`),
    ),
  );
  await Promise.race(chats.slice(30).map((connection) => connection.until('event: delta')));
  await server.end('SIGKILL');
  await Promise.all(chats.map((connection) => connection.closed()));
  const events = chats.map((connection) => acknowledged(connection.received));
  expect(events.some((one) => one.length > 0)).toBe(true);

  const again = await serve();
  const headers = { authorization: `Bearer ${key}` };
  for (const [index, own] of events.entries()) {
    for (const { event, body } of own) {
      const response = await fetch(`${again.url}/v1/sessions/${body.data.session_id}/messages`, { headers });
      const { data } = (await response.json()) as {
        data: { items: { message_id: string; content: string }[] };
      };
      const stored = data.items.find(({ message_id }) => message_id === body.data.message_id);
      if (event === 'session') expect(stored?.content).toMatch(new RegExp(`^message ${index} `));
      else expect(stored?.content).toBe(body.data.reply);
    }
  }
  const { session_id } = events.find((one) => one.length > 0)?.[0]?.body.data ?? {};
  const next = await fetch(`${again.url}/v1/chat`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ mode: 'echo', message: 'afterwards', session_id }),
  });
  expect(next.status).toBe(200);
});

/** The complete `session` and `done` events. An event that a kill has cut acknowledges nothing. */
function acknowledged(received: string) {
  const body = received.slice(received.indexOf('\r\n\r\n') + 4).replace(/(^|\r\n)[0-9a-f]+\r\n/g, '');
  const whole = body.slice(0, body.lastIndexOf('\n\n') + 2);
  return whole.includes('event: ')
    ? eventsOf(whole).filter(({ event }) => event === 'session' || event === 'done')
    : [];
}
