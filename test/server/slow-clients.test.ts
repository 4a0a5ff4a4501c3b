// Slow clients: slow headers, slow bodies, stalled readers. Each is cut, and costs little until then.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from 'vitest';
import { anySession } from '../../src/service/session-archive.ts';
import { callWith, say } from '../support/calls.ts';
import { engineOf, finish } from '../support/embedded.ts';
import { RawConnection } from './raw-connection.ts';
import { openServer, type ServerFixture } from './server-fixture.ts';

const quick = { headersMs: 100, requestMs: 200, checkMs: 20, stalledMs: 200, heartbeatMs: 50 };

let server: ServerFixture;
afterEach(() => server.close());

test('a client whose headers do not end gets an error, and is cut', async () => {
  server = await openServer({ serverLimits: quick });
  const { port } = await server.listen();
  const connection = await RawConnection.open(port);
  await connection.send('GET /v1/models HTTP/1.1\r\nHost: a\r\n');
  const answer = await connection.answer();
  expect([answer?.status, JSON.parse(answer?.body ?? '').success]).toEqual([408, false]);
  await connection.closed();
});

test('a client whose body does not end gets an error, and is cut', async () => {
  server = await openServer({ serverLimits: quick });
  const { port } = await server.listen();
  const connection = await RawConnection.open(port);
  await connection.send(
    `POST /v1/sessions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\n` +
      'Content-Length: 100\r\n\r\n{"title":',
  );
  const answer = await connection.answer();
  expect([answer?.status, JSON.parse(answer?.body ?? '').success]).toEqual([408, false]);
  await connection.closed();
  await expect.poll(() => server.log().length).toBe(2);
  expect(
    server
      .log()
      .map(({ status }) => status)
      .sort(),
  ).toEqual([408, 499]);
});

/** A chat on a connection that is read no further than its first event. */
async function stalledStream(port: number): Promise<RawConnection> {
  const body = '{"mode":"test","message":"hello"}';
  const connection = await RawConnection.open(port);
  await connection.send(
    `POST /v1/chat HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\n` +
      `Accept: text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await connection.until('event: session');
  connection.socket.pause();
  return connection;
}

/** An engine whose replies do not end. It counts its chunks, and the replies that were stopped. */
function endlessEngine() {
  const chunk = 'x'.repeat(1000);
  const counts = { chunks: 0, stopped: 0 };
  const engines = engineOf(async function* (_context, signal) {
    try {
      for (;;) {
        signal.throwIfAborted();
        counts.chunks += 1;
        yield { type: 'text', text: chunk };
        // Other work of this process runs in between.
        if (counts.chunks % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      counts.stopped += 1;
    }
  });
  return { engines, counts };
}

test('a stalled reader of a stream is cut, its engine is stopped, and the received part is kept', async () => {
  const { engines, counts } = endlessEngine();
  server = await openServer({ engines, serverLimits: quick });
  const { port } = await server.listen();
  const connection = await stalledStream(port);
  await expect.poll(() => counts.stopped).toBe(1);
  await expect.poll(() => server.log().length).toBe(1);
  expect(server.log()[0]).toMatchObject({ status: 499 });
  const { data } = await server.backend.archive.listSessions(callWith(server.key), {
    ...anySession,
    limit: 1,
    cursor: null,
  });
  expect(data.items[0]?.message_count).toBe(2);
  connection.destroy();
});

/** A session of four messages of 1 MB each. */
async function sessionOfLongMessages(): Promise<string> {
  const { service } = server.backend;
  const text = 'x'.repeat(1_000_000);
  const { session_id } = await say(service, callWith(server.key), text);
  await say(service, callWith(server.key), text, session_id);
  return session_id;
}

function messagesRequest(session_id: string): string {
  return `GET /v1/sessions/${session_id}/messages HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\n\r\n`;
}

test('a stalled reader of JSON responses is cut', async () => {
  server = await openServer({ serverLimits: quick });
  const { port } = await server.listen();
  const session_id = await sessionOfLongMessages();
  const connection = await RawConnection.open(port);
  connection.socket.pause();
  // The buffers of the kernel may take a whole response of 4 MB, but not four.
  await connection.send(messagesRequest(session_id).repeat(4));
  await expect.poll(() => server.log().length).toBeGreaterThan(0);
  // A stalled reader may take less time than this. What is read from now on ends before the fourth response does.
  await new Promise((resolve) => setTimeout(resolve, 3 * quick.stalledMs));
  connection.socket.resume();
  await connection.closed();
  expect(connection.received.length).toBeLessThan(16_000_000);
});

test('a slow reader of a long response gets all of it', async () => {
  server = await openServer({ serverLimits: { ...quick, stalledMs: 3000 } });
  const { port } = await server.listen();
  const session_id = await sessionOfLongMessages();
  const connection = await RawConnection.open(port);
  connection.socket.pause();
  await connection.send(messagesRequest(session_id));
  const taking = setInterval(() => {
    connection.socket.resume();
    setTimeout(() => connection.socket.pause(), 5);
  }, 20);
  const answer = await connection.answer();
  clearInterval(taking);
  expect(JSON.parse(answer?.body ?? '').data.items).toHaveLength(4);
  connection.destroy();
});

test('a healthy stream without events does not count as stalled', async () => {
  server = await openServer({
    serverLimits: quick,
    engines: engineOf(async function* () {
      await new Promise((resolve) => setTimeout(resolve, 3 * quick.stalledMs));
      yield finish;
    }),
  });
  const { port } = await server.listen();
  const connection = await stalledStream(port);
  connection.socket.resume();
  expect((await connection.answer())?.body).toContain('event: done');
  connection.destroy();
});

test('a stalled reader costs the server at most 256 KiB', async () => {
  const { engines, counts } = endlessEngine();
  // The engines never pause, so even a quick request may be read late.
  const patient = { ...quick, headersMs: 30_000, requestMs: 30_000, stalledMs: 60_000, graceMs: 10 };
  server = await openServer({ engines, serverLimits: patient });
  const { port } = await server.listen();
  const warm = await stalledStream(port);
  const rest = async () => {
    for (let before = -1; before !== counts.chunks; ) {
      before = counts.chunks;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  await rest();
  const chunksBefore = counts.chunks;
  const before = memoryInUse();
  const readers = await Promise.all(Array.from({ length: 10 }, () => stalledStream(port)));
  await rest();
  // The texts of the replies are stored, so only these are subtracted. On a busy machine a reader may begin late.
  const cost = () => (memoryInUse() - before - (counts.chunks - chunksBefore) * 1000) / readers.length;
  await expect.poll(cost, { interval: 500 }).toBeLessThan(256 * 1024);
  for (const reader of [warm, ...readers]) reader.destroy();
}, 60_000);

function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
