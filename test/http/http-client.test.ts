// One request and its response over real sockets: successes, and failures of the server.
import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { httpFailure } from '../../src/http/http-failure.ts';
import { serve, serveBytes } from '../support/scripted-server.ts';
import { testCertificate } from '../support/test-certificate.ts';
import { clientOf, closeAfterTest, failureOf, get, readAll, started } from './client-fixture.ts';

describe('a request', () => {
  it('arrives unchanged, and its response is returned', async () => {
    const { server, client } = await started((_request, response) => {
      response.writeHead(201, { 'x-note': ['one', 'two'] }).end('é\ufeff😀');
    });
    const headers = { Authorization: 'Bearer k', 'Content-Type': 'application/json' };
    const answer = await client.request(
      get({ method: 'POST', path: '/p/a%2Fb?q=%20', headers, body: '{"é":1}' }),
    );
    expect(answer.status).toBe(201);
    expect(answer.header('X-Note')).toBe('one, two');
    expect(answer.header('none')).toBeNull();
    expect(await answer.text(100)).toBe('é\ufeff😀');
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/p/a%2Fb?q=%20', body: '{"é":1}' });
    expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Bearer k', 'content-length': '8' });
  });

  it('without a body sends none', async () => {
    const { server, client } = await started((_request, response) => response.end('ok'));
    await (await client.request(get({ method: 'POST' }))).text(10);
    expect(server.requests[0]?.headers).toMatchObject({ 'content-length': '0' });
    expect(server.requests[0]?.headers).not.toHaveProperty('content-type');
  });

  it('reuses connections', async () => {
    const { server, client } = await started((_request, response) => response.end('ok'));
    await (await client.request(get())).text(10);
    // By then the server is known to keep connections.
    await delay(100);
    for (let count = 0; count < 20; count++) await (await client.request(get())).text(10);
    expect(server.connections()).toBe(1);
  });

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('that is answered in %s is unpacked', async (encoding, pack) => {
    const text = 'packed 😀 '.repeat(5000);
    const { client } = await started((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(pack(text));
    });
    expect(await (await client.request(get())).text(100_000)).toBe(text);
    expect(await readAll((await client.request(get())).stream())).toBe(text);
  });

  it.each([
    ['cut', (packed: Buffer) => packed.subarray(0, -12), 'broken'],
    ['damaged', (packed: Buffer) => Buffer.from(packed).fill(0xff, 12, 20), 'unreadable'],
  ])('that is answered in gzip that is %s fails', async (_, spoil, kind) => {
    const packed = spoil(gzipSync('packed 😀 '.repeat(500)));
    const { client } = await started((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
    });
    const answer = await client.request(get());
    expect(await failureOf(answer.text(100_000))).toMatchObject({ kind, isSent: true });
  });

  it.each(['is cut', 'is damaged'])(
    'that is answered in gzip that %s gives its text before that',
    async (how) => {
      const words = Array.from({ length: 500 }, (_, at) => `word ${at} `);
      const packed = words.slice(0, -1).map((word) => gzipSync(word));
      const last = how === 'is cut' ? Buffer.of(0x1f, 0x8b) : Buffer.from('\x1f\x8b nonsense', 'latin1');
      const { client } = await started((_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.concat([...packed, last]));
      });
      const read: string[] = [];
      const reading = async () => {
        for await (const chunk of (await client.request(get())).stream()) {
          read.push(chunk.toString());
          await delay(1);
        }
      };
      const kind = how === 'is cut' ? 'broken' : 'unreadable';
      expect(await failureOf(reading())).toMatchObject({ kind });
      const all = words.join('');
      expect(all.startsWith(read.join(''))).toBe(true);
      expect(read.join('').length).toBeGreaterThan(all.length * 0.9);
    },
  );

  it('is not said to have lost its connection if the server sends 100 Continue unasked', async () => {
    const server = closeAfterTest(
      await serve((_request, response) => {
        response.writeContinue();
        response.end('ok');
      }, testCertificate),
    );
    const client = clientOf(server.url, { authorities: [testCertificate.cert] });
    const failure = await failureOf(client.request(get({ method: 'POST' })));
    expect(failure).toMatchObject({ kind: 'unreadable', isSent: true });
    expect(failure.message).toContain('sent the status 100, which was not requested');
  });

  it('with a response in an unknown encoding fails', async () => {
    const { client } = await started((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'zip' }).end('x');
    });
    expect(await failureOf((await client.request(get())).text(10))).toMatchObject({ kind: 'unreadable' });
  });

  it('has a response of a limited size, even after decompression', async () => {
    const { client } = await started((request, response) => {
      if (request.path === '/bomb') response.setHeader('content-encoding', 'gzip');
      response.end(request.path === '/bomb' ? gzipSync(Buffer.alloc(1_000_000)) : 'x'.repeat(1001));
    });
    for (const path of ['/', '/bomb']) {
      const answer = await client.request(get({ path }));
      expect(await failureOf(answer.text(1000))).toMatchObject({ kind: 'too_large' });
    }
    expect(await (await client.request(get())).text(1001)).toHaveLength(1001);
  });

  it('with a response that is not UTF-8 fails', async () => {
    const { client } = await started((_request, response) => response.end(Buffer.from('caf\xe9', 'latin1')));
    expect(await failureOf((await client.request(get())).text(10))).toMatchObject({ kind: 'unreadable' });
  });
});

describe('a redirect', () => {
  it.each([
    [301, 'http://elsewhere.example/x?k=v', 'http://elsewhere.example/x'],
    [302, 'https://user:secret@elsewhere.example/', 'https://elsewhere.example/'],
    [303, '/login', '/login'],
    [300, '//elsewhere.example', 'http://elsewhere.example/'],
  ])('of %d to %s is refused with both places named', async (status, location, named) => {
    const { server, client } = await started((_request, response) => {
      response.writeHead(status, location === undefined ? {} : { location }).end('moved');
    });
    const failure = await failureOf(client.request(get({ path: '/v1/chat?secret=1' })));
    expect(failure.kind).toBe('redirect');
    expect(failure.message).toContain(`redirects (${status}) from ${server.url}/v1/chat to `);
    expect(failure.message).toContain(named);
    expect(failure.message).not.toContain('secret');
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [304, undefined],
    [304, '/elsewhere'],
    [302, undefined],
    [308, 'http://[bad'],
  ])('is none with status %d and the location %s: it answers nothing', async (status, location) => {
    const { server, client } = await started((_request, response) => {
      response.writeHead(status, location === undefined ? {} : { location }).end();
    });
    const failure = await failureOf(client.request(get({ path: '/v1/models?secret=1' })));
    expect(failure).toMatchObject({
      kind: 'unreadable',
      message: `the server responded to ${server.url}/v1/models with only the status ${status}`,
    });
  });
});

describe('a failure', () => {
  it('that sends an unrequested upgrade fails at once', async () => {
    const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
    const server = closeAfterTest(await serveBytes((socket) => socket.write(upgrade)));
    const failure = await failureOf(clientOf(server.url, { responseMs: 60_000 }).request(get()));
    expect(failure).toMatchObject({ kind: 'broken', isSent: true });
  });

  it('to connect was never sent', async () => {
    const server = await serve(() => {});
    await server.close();
    const failure = await failureOf(clientOf(server.url).request(get({ method: 'POST', body: '{}' })));
    expect(failure).toMatchObject({ kind: 'refused', isSent: false });
    expect(failure.message).toContain(`127.0.0.1:${server.port}`);
  });

  it.each([
    ['before its answer', ''],
    ['within its head', 'HTTP/1.1 200 OK\r\ncontent-le'],
  ])('of a connection that ends %s was sent', async (_, bytes) => {
    for (const end of ['end', 'resetAndDestroy'] as const) {
      const server = closeAfterTest(
        await serveBytes((socket) =>
          bytes === '' ? socket[end]() : socket.write(bytes, () => socket[end]()),
        ),
      );
      const failure = await failureOf(clientOf(server.url).request(get()));
      expect(failure).toMatchObject({ kind: 'broken', isSent: true });
    }
  });

  it.each([
    ['of a known length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"success"'],
    ['in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\n{"success"\r\n'],
  ])('within a body %s is no end of it', async (_, bytes) => {
    for (const end of ['end', 'resetAndDestroy'] as const) {
      const server = closeAfterTest(
        await serveBytes((socket) => socket.write(bytes, () => setTimeout(() => socket[end](), 20))),
      );
      const whole = await clientOf(server.url).request(get());
      expect(await failureOf(whole.text(1000))).toMatchObject({ kind: 'broken', isSent: true });
      const pieces = await clientOf(server.url).request(get());
      expect(await failureOf(readAll(pieces.stream()))).toMatchObject({ kind: 'broken', isSent: true });
    }
  });

  it.each([
    ['plain', null],
    ['TLS', testCertificate],
  ])(
    'on a kept connection (%s) that ends at once is told as stale, and on a new one never',
    async (_kind, tls) => {
      const server = closeAfterTest(
        await serve(({ path }, response) => {
          const { socket } = response;
          if (path === '/') response.end('ok');
          if (path === '/cut') socket?.write('H', () => socket.destroy());
          if (path === '/end') socket?.end();
          if (path === '/destroy') socket?.destroy();
        }, tls),
      );
      const authorities = tls && [tls.cert];
      for (const path of ['/end', '/destroy', '/cut']) {
        const fresh = clientOf(server.url, { authorities }).request(get({ path }));
        expect(await failureOf(fresh)).toMatchObject({ kind: 'broken', isStale: false });
        const client = clientOf(server.url, { authorities });
        await (await client.request(get())).text(1000);
        // By then the server is known to keep connections.
        await delay(100);
        const failure = await failureOf(client.request(get({ path })));
        expect(failure).toMatchObject({ kind: 'broken', isSent: true, isStale: path !== '/cut' });
      }
    },
  );

  it('that does not speak HTTP is reported as that', async () => {
    const server = closeAfterTest(await serveBytes((socket) => socket.write('220 mail.example ESMTP\r\n')));
    expect(await failureOf(clientOf(server.url).request(get()))).toMatchObject({ kind: 'unreadable' });
  });

  it.each([
    ['ENOTFOUND', 'unknown_host'],
    ['EAI_AGAIN', 'lookup'],
    ['EHOSTUNREACH', 'unreachable'],
    ['ENETUNREACH', 'unreachable'],
    ['ETIMEDOUT', 'timeout'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['ECONNRESET', 'broken'],
    ['EPIPE', 'broken'],
    ['UND_ERR_SOCKET', 'broken'],
    ['UND_ERR_HEADERS_OVERFLOW', 'unreadable'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['EPROTO', 'tls'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'untrusted'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'untrusted'],
  ])('with the code %s is of the kind %s', (code, kind) => {
    const error = Object.assign(new Error('raw'), { code });
    const place = { host: 'api.example', proxy: null };
    expect(httpFailure(error, false, place).kind).toBe(kind);
    const several = new AggregateError([error, new Error('other')]);
    expect(httpFailure(several, false, place).kind).toBe(kind);
    expect(httpFailure(error, false, place).message).toContain('api.example');
  });

  it('of several addresses is that of one that refused, not of one that Node left after a moment', () => {
    const errors = ['ETIMEDOUT', 'ECONNREFUSED'].map((code) => Object.assign(new Error('raw'), { code }));
    const place = { host: 'localhost:1', proxy: null };
    expect(httpFailure(new AggregateError(errors), false, place).kind).toBe('refused');
    expect(httpFailure(new AggregateError(errors.slice(0, 1)), false, place).kind).toBe('timeout');
  });
});
