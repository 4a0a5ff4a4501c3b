// Connections to this machine that are kept between requests, and those that must not be.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { HttpRequest } from '../../src/http/http-client.ts';
import { serve, serveBytes } from '../support/scripted-server.ts';
import { clientOf, closeAfterTest, get } from './client-fixture.ts';

/** Responds to every request on a connection with the same bytes. */
async function repeating(answer: string) {
  return serveBytes((socket) => {
    const say = () => socket.write(answer);
    socket.on('data', say);
    say();
  });
}

const ok = 'HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok';

describe('a connection', () => {
  it.each([
    ['is kept after an answer that has come whole', ok, 1],
    [
      'is kept after an answer in chunks',
      'HTTP/1.1 200 OK\r\nkeep-alive: timeout=5\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      1,
    ],
    ['is not kept where the server does not say so', ok.replace('connection: keep-alive\r\n', ''), 2],
    ['is not kept when the server will close it', ok.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'), 2],
    ['is not kept when more has come than the answer', `${ok}more`, 2],
    ['is not kept by HTTP/1.0', ok.replace('1.1', '1.0'), 2],
  ])('%s', async (_what, answer, connections) => {
    const server = await repeating(answer);
    const client = clientOf(closeAfterTest(server).url);
    for (const _ of [1, 2]) {
      expect(await (await client.request(get())).text(100)).toBe('ok');
    }
    expect(server.connections()).toBe(connections);
  });

  it('is not reused after the server has closed one during a request', async () => {
    let isBroken = false;
    const server = await serveBytes((socket) => {
      socket.on('data', () => (isBroken ? socket.destroy() : socket.write(ok))).write(ok);
    });
    const client = clientOf(closeAfterTest(server).url);
    await (await client.request(get())).text(100);
    isBroken = true;
    await expect(client.request(get())).rejects.toMatchObject({ kind: 'broken', isStale: true });
    isBroken = false;
    for (const count of [2, 3]) {
      await (await client.request(get())).text(100);
      expect(server.connections()).toBe(count);
    }
  });

  it('that is idle is closed when the server sends unrequested bytes', async () => {
    const gone: Promise<unknown>[] = [];
    const server = await serveBytes((socket) => {
      gone.push(once(socket, 'close'));
      socket.write(ok, () => setTimeout(() => socket.write('HTTP/1.1 408 Late\r\n\r\n'), 5));
    });
    const client = clientOf(closeAfterTest(server).url);
    for (const count of [1, 2]) {
      expect(await (await client.request(get())).text(100)).toBe('ok');
      await gone[count - 1];
      expect(server.connections()).toBe(count);
    }
  });

  it('that is idle serves the next request even if the previous one is stopped after its end', async () => {
    let answer = () => {};
    const server = await serve(({ path }, response) => {
      if (path === '/first') response.end(path);
      else answer = () => response.end(path);
    });
    const client = clientOf(closeAfterTest(server).url);
    const stop = new AbortController();
    const unread = await client.request(get({ path: '/first', signal: stop.signal }));
    // The body arrives with the head, or a moment later.
    await delay(100);
    const next = client.request(get({ path: '/slow' }));
    await expect.poll(() => server.requests).toHaveLength(2);
    stop.abort(new Error('stopped'));
    await expect(unread.text(100)).rejects.toThrow('stopped');
    answer();
    expect(await (await next).text(100)).toBe('/slow');
    expect(server.connections()).toBe(1);
  });

  it('is closed with its client, idle or not', async () => {
    const closed: Promise<unknown>[] = [];
    const server = await serveBytes((socket, count) => {
      closed.push(once(socket, 'close'));
      if (count === 1) socket.write(ok);
    });
    const client = clientOf(closeAfterTest(server).url);
    await (await client.request(get())).text(100);
    const first = client.request(get());
    const second = client.request(get());
    const failures = Promise.allSettled([first, second]);
    await expect.poll(() => server.connections()).toBe(2);
    await client.close();
    expect((await failures).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await Promise.all(closed);
  });

  it('delivers its bytes at the pace of the reader', async () => {
    const size = 50 * 1024 * 1024;
    let written = 0;
    const server = await serve(async (_request, response) => {
      for (const piece = Buffer.alloc(64 * 1024, 1); written < size; written += piece.length) {
        if (!response.write(piece)) await once(response, 'drain');
      }
      response.end();
    });
    const answer = await clientOf(closeAfterTest(server).url).request(get());
    await delay(200);
    expect(written).toBeLessThan(size / 2);
    let read = 0;
    for await (const piece of answer.stream()) read += piece.byteLength;
    expect(read).toBe(size);
  });
});

describe('a request is refused, and nothing is sent,', () => {
  it.each<[string, Partial<HttpRequest>]>([
    ['for a line break in a header', { headers: { 'X-A': 'a\r\nX-B: b' } }],
    ['for a NUL in a header', { headers: { 'X-A': 'a\0' } }],
    ['for a letter that no header can hold', { headers: { 'X-A': '\u0107' } }],
    ['for a colon in the name of a header', { headers: { 'X:A': 'a' } }],
    ['for a space in its path', { path: '/a b' }],
    ['for a line break in its path', { path: '/a\r\nHost: b' }],
  ])('%s', async (_what, request) => {
    const server = await serve((_request, response) => response.end('ok'));
    await expect(clientOf(closeAfterTest(server).url).request(get(request))).rejects.toBeInstanceOf(
      TypeError,
    );
    expect(server.connections()).toBe(0);
  });
});
