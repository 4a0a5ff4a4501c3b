// One request and its answer over real sockets: what goes well, and each way in which it does not.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HttpClient, type HttpClientOptions, type HttpRequest } from '../../src/http/http-client.ts';
import { HttpFailure, httpFailure } from '../../src/http/http-failure.ts';
import {
  type Script,
  type ScriptedServer,
  serve,
  serveBytes,
  serveProxy,
} from '../support/scripted-server.ts';
import { testCertificate } from '../support/test-certificate.ts';

function kept<T extends { close(): Promise<void> }>(thing: T): T {
  onTestFinished(() => thing.close());
  return thing;
}

function clientOf(origin: string, options: Partial<HttpClientOptions> = {}): HttpClient {
  const usual = {
    proxies: {},
    authorities: null,
    connectMs: 2000,
    answerMs: 5000,
    silenceMs: 5000,
    tellsStale: true,
    now: Date.now,
  };
  return kept(new HttpClient({ origin, ...usual, ...options }));
}

async function started(script: Script, options?: Partial<HttpClientOptions>) {
  const server = kept(await serve(script));
  return { server, client: clientOf(server.url, options) };
}

const get = (rest: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'GET',
  path: '/',
  headers: {},
  body: null,
  signal: new AbortController().signal,
  ...rest,
});

async function failureOf(work: Promise<unknown>): Promise<HttpFailure> {
  const error = await work.then(
    () => new Error('expected a failure'),
    (reason: unknown) => reason,
  );
  if (error instanceof HttpFailure) return error;
  throw error;
}

async function readAll(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('a request', () => {
  it('arrives as it was given, and its answer comes back', async () => {
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

  it('uses connections that are there', async () => {
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
    expect(await failureOf(answer.text(100_000))).toMatchObject({ kind, sent: true });
  });

  it('that is answered in an unknown packing fails', async () => {
    const { client } = await started((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'zip' }).end('x');
    });
    expect(await failureOf((await client.request(get())).text(10))).toMatchObject({ kind: 'unreadable' });
  });

  it('has an answer of a limited size, unpacked too', async () => {
    const { client } = await started((request, response) => {
      if (request.path === '/bomb') response.setHeader('content-encoding', 'gzip');
      response.end(request.path === '/bomb' ? gzipSync(Buffer.alloc(1_000_000)) : 'x'.repeat(1001));
    });
    for (const path of ['/', '/bomb']) {
      const answer = await client.request(get({ path }));
      expect(await failureOf(answer.text(1000))).toMatchObject({ kind: 'unreadable' });
    }
    expect(await (await client.request(get())).text(1001)).toHaveLength(1001);
  });

  it('that is answered with bytes that are not UTF-8 fails', async () => {
    const { client } = await started((_request, response) => response.end(Buffer.from('caf\xe9', 'latin1')));
    expect(await failureOf((await client.request(get())).text(10))).toMatchObject({ kind: 'unreadable' });
  });
});

describe('a redirect', () => {
  it.each([
    [301, 'http://elsewhere.example/x?k=v', 'http://elsewhere.example/x'],
    [302, 'https://user:secret@elsewhere.example/', 'https://elsewhere.example/'],
    [303, '/login', '/login'],
    [307, undefined, 'no other place'],
    [308, 'http://[bad', 'no other place'],
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
});

describe('a failure', () => {
  it('to answer with anything but an upgrade that nobody asked for is told at once', async () => {
    const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
    const server = kept(await serveBytes((socket) => socket.write(upgrade)));
    const failure = await failureOf(clientOf(server.url, { answerMs: 60_000 }).request(get()));
    expect(failure).toMatchObject({ kind: 'broken', sent: true });
  });

  it('to connect was never sent', async () => {
    const server = await serve(() => {});
    await server.close();
    const failure = await failureOf(clientOf(server.url).request(get({ method: 'POST', body: '{}' })));
    expect(failure).toMatchObject({ kind: 'refused', sent: false });
    expect(failure.message).toContain(`127.0.0.1:${server.port}`);
  });

  it.each([
    ['before its answer', ''],
    ['within its head', 'HTTP/1.1 200 OK\r\ncontent-le'],
  ])('of a connection that ends %s was sent', async (_, bytes) => {
    for (const end of ['end', 'resetAndDestroy'] as const) {
      const server = kept(
        await serveBytes((socket) =>
          bytes === '' ? socket[end]() : socket.write(bytes, () => socket[end]()),
        ),
      );
      const failure = await failureOf(clientOf(server.url).request(get()));
      expect(failure).toMatchObject({ kind: 'broken', sent: true });
    }
  });

  it.each([
    ['of a known length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"success"'],
    ['in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\n{"success"\r\n'],
  ])('within a body %s is no end of it', async (_, bytes) => {
    for (const end of ['end', 'resetAndDestroy'] as const) {
      const server = kept(
        await serveBytes((socket) => socket.write(bytes, () => setTimeout(() => socket[end](), 20))),
      );
      const whole = await clientOf(server.url).request(get());
      expect(await failureOf(whole.text(1000))).toMatchObject({ kind: 'broken', sent: true });
      const pieces = await clientOf(server.url).request(get());
      expect(await failureOf(readAll(pieces.stream()))).toMatchObject({ kind: 'broken', sent: true });
    }
  });

  it.each([
    ['plain', null],
    ['TLS', testCertificate],
  ])(
    'on a kept connection (%s) that ends at once is told as stale, and on a new one never',
    async (_kind, tls) => {
      const server = kept(
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
        expect(await failureOf(fresh)).toMatchObject({ kind: 'broken', stale: false });
        const client = clientOf(server.url, { authorities });
        await (await client.request(get())).text(1000);
        // By then the server is known to keep connections.
        await delay(100);
        const failure = await failureOf(client.request(get({ path })));
        expect(failure).toMatchObject({ kind: 'broken', sent: true, stale: path !== '/cut' });
      }
    },
  );

  it('to speak HTTP is told as that', async () => {
    const server = kept(await serveBytes((socket) => socket.write('220 mail.example ESMTP\r\n')));
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
});

describe('a clock', () => {
  it('limits the wait for the head of an answer', async () => {
    const { client } = await started(() => {}, { answerMs: 50 });
    expect(await failureOf(client.request(get()))).toMatchObject({ kind: 'timeout', sent: true });
  });

  const dripping: Script = async (_request, response) => {
    response.writeHead(200);
    for (let count = 0; count < 8 && !response.destroyed; count++) {
      response.write('.');
      await delay(30);
    }
    response.end();
  };

  it('limits an answer that is read whole, however it drips', async () => {
    const { client } = await started(dripping, { answerMs: 100, silenceMs: 10_000 });
    const whole = client.request(get()).then((answer) => answer.text(100));
    expect(await failureOf(whole)).toMatchObject({ kind: 'timeout' });
  });

  it('does not limit a whole stream, nor what its reader takes', async () => {
    const { client } = await started(dripping, { answerMs: 800, silenceMs: 800 });
    let text = '';
    for await (const chunk of (await client.request(get())).stream()) {
      text += Buffer.from(chunk).toString();
      if (text === '.') await delay(1000);
    }
    expect(text).toBe('........');
  });

  it('limits silence within a stream', async () => {
    const { client } = await started((_request, response) => response.writeHead(200).write('first'), {
      answerMs: 10_000,
      silenceMs: 50,
    });
    const seen: string[] = [];
    const failure = await failureOf(
      (async () => {
        for await (const chunk of (await client.request(get())).stream()) {
          seen.push(Buffer.from(chunk).toString());
        }
      })(),
    );
    expect(seen).toEqual(['first']);
    expect(failure).toMatchObject({ kind: 'timeout', sent: true });
    expect(failure.message).toContain('0.05 s');
  });
});

describe('a signal', () => {
  const reason = new Error('stopped');

  it('that has fired lets nothing go', async () => {
    const { server, client } = await started((_request, response) => response.end());
    await expect(client.request(get({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    expect(server.requests).toHaveLength(0);
  });

  it('stops the wait for an answer, and the connection with it', async () => {
    const stop = new AbortController();
    const gone = new AbortController();
    const { client } = await started((_request, response) => {
      response.on('close', () => gone.abort());
      stop.abort(reason);
    });
    await expect(client.request(get({ signal: stop.signal }))).rejects.toBe(reason);
    if (!gone.signal.aborted) await once(gone.signal, 'abort');
  });

  it('stops the reading of an answer', async () => {
    const { client } = await started((_request, response) => response.writeHead(200).write('first'));
    for (const read of ['stream', 'text'] as const) {
      const stop = new AbortController();
      const answer = await client.request(get({ signal: stop.signal }));
      setTimeout(() => stop.abort(reason), 20);
      await expect(read === 'text' ? answer.text(10) : readAll(answer.stream())).rejects.toBe(reason);
    }
  });

  it('stops the wait for a connection', async () => {
    // A proxy that takes the request for a tunnel and never answers it.
    const proxy = kept(await serveBytes(() => {}));
    const client = clientOf('http://api.example', { proxies: { HTTP_PROXY: proxy.url }, connectMs: 60_000 });
    const stop = new AbortController();
    setTimeout(() => stop.abort(reason), 50);
    await expect(client.request(get({ signal: stop.signal }))).rejects.toBe(reason);
  });

  it('leaves no listener behind when all is read', async () => {
    const { client } = await started((_request, response) => response.end('ok'));
    let listeners = 0;
    const { signal } = new AbortController();
    const counted = new Proxy(signal, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'addEventListener') listeners += 1;
        if (name === 'removeEventListener') listeners -= 1;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await (await client.request(get({ signal: counted }))).text(10);
    await readAll((await client.request(get({ signal: counted }))).stream());
    expect(listeners).toBe(0);
  });
});

describe('a stream whose reader leaves', () => {
  it('is closed', async () => {
    const gone = new AbortController();
    const { client } = await started((_request, response) => {
      response.on('close', () => gone.abort());
      response.writeHead(200).write('first');
    });
    for await (const chunk of (await client.request(get())).stream()) {
      expect(Buffer.from(chunk).toString()).toBe('first');
      break;
    }
    if (!gone.signal.aborted) await once(gone.signal, 'abort');
  });
});

describe('a certificate', () => {
  let server: ScriptedServer;
  const open = async () => {
    server = kept(await serve((_request, response) => response.end('secret'), testCertificate));
  };

  it('of an unknown signer is refused before anything is sent', async () => {
    await open();
    const failure = await failureOf(clientOf(server.url).request(get({ headers: { Authorization: 'k' } })));
    expect(failure).toMatchObject({ kind: 'untrusted', sent: false });
    expect(server.requests).toHaveLength(0);
  });

  it('that is trusted is taken', async () => {
    await open();
    const client = clientOf(server.url, { authorities: [testCertificate.cert] });
    expect(await (await client.request(get())).text(10)).toBe('secret');
  });

  it('is asked of a server that has none: it is told as TLS', async () => {
    const plain = kept(await serve((_request, response) => response.end()));
    const client = clientOf(plain.url.replace('http:', 'https:'));
    expect(await failureOf(client.request(get()))).toMatchObject({ kind: 'tls', sent: false });
  });
});

describe('a proxy', () => {
  it('is asked for a tunnel, with its password, and sees no header of the request', async () => {
    const server = kept(await serve((_request, response) => response.end('through')));
    const seen: string[] = [];
    const proxy = kept(await serveProxy(server.port, (head) => seen.push(head)));
    const client = clientOf('http://api.example', {
      proxies: { HTTP_PROXY: proxy.url.replace('//', '//user:word@') },
    });
    const request = get({ headers: Object.freeze({ Authorization: 'Bearer k' }) });
    expect(await (await client.request(request)).text(10)).toBe('through');
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain('CONNECT api.example:80 HTTP/1.1');
    expect(seen[0]).toContain(`Basic ${btoa('user:word')}`);
    expect(seen[0]).not.toContain('Bearer');
    expect(server.requests[0]?.headers.host).toBe('api.example');
    expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it.each([407, 403, 502])('that refuses with %d is named, without its password', async (status) => {
    const proxy = kept(await serveBytes((socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)));
    const client = clientOf('https://api.example', {
      proxies: { HTTPS_PROXY: proxy.url.replace('//', '//user:word@') },
    });
    const failure = await failureOf(client.request(get({ method: 'POST', body: '{}' })));
    expect(failure).toMatchObject({ kind: 'proxy', sent: false });
    expect(failure.message).toContain(`127.0.0.1:${proxy.port}`);
    expect(failure.message).not.toContain('word');
  });

  it('that is not there is named', async () => {
    const proxy = await serve(() => {});
    await proxy.close();
    const client = clientOf('http://api.example', { proxies: { HTTP_PROXY: proxy.url } });
    const failure = await failureOf(client.request(get()));
    expect(failure).toMatchObject({ kind: 'refused', sent: false });
    expect(failure.message).toContain(`the proxy 127.0.0.1:${proxy.port}`);
  });
});
