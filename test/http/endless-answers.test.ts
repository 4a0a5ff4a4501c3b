// Endless responses, in each part of a response: they are abandoned, and take little memory.
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ChunkQueue } from '../../src/http/chunk-queue.ts';
import { flood } from '../support/flood.ts';
import { serveBytes, serveProxy, serveSocks } from '../support/scripted-server.ts';
import { testCertificate } from '../support/test-certificate.ts';
import { clientOf, closeAfterTest, failureOf, get, readAll } from './client-fixture.ts';

// undici warns once per process that its SOCKS support is experimental.
beforeAll(() => void vi.spyOn(process, 'emitWarning').mockImplementation(() => {}));
afterAll(() => void vi.restoreAllMocks());

const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n';
const body = `${head}\r\n`;
const chunkOf = (bytes: string | Buffer) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')]);

const maxBytes = 128 * 1024;

/** A client over plain sockets, and others that go through undici: through a proxy that forwards, through a tunnel, over TLS, and through a SOCKS proxy. */
async function clients(answer: (socket: Socket) => unknown) {
  const server = closeAfterTest(await serveBytes(answer));
  const proxy = closeAfterTest(await serveProxy(server.port, () => {}));
  const secure = closeAfterTest(await serveBytes(answer, testCertificate));
  const tunnel = closeAfterTest(await serveProxy(secure.port, () => {}));
  const socks = closeAfterTest(await serveSocks(server.port));
  return {
    plain: clientOf(server.url, { maxBytes }),
    tunnelled: clientOf('https://api.example', {
      maxBytes,
      authorities: [testCertificate.cert],
      proxies: { HTTPS_PROXY: tunnel.url },
    }),
    proxied: clientOf('http://api.example', { maxBytes, proxies: { HTTP_PROXY: proxy.url } }),
    secure: clientOf(secure.url, { maxBytes, authorities: [testCertificate.cert] }),
    socks: clientOf('http://api.example', { maxBytes, proxies: { HTTP_PROXY: proxyUrl(socks) } }),
  };
}

const proxyUrl = ({ port }: { readonly port: number }) => `socks5://127.0.0.1:${port}`;

const flooded = (first: string, again: string | Buffer) =>
  clients((socket) => {
    socket.write(first);
    flood(socket, again);
  });

describe('an endless response', () => {
  it.each<[string, string, string | Buffer]>([
    ['of data', body, chunkOf(Buffer.alloc(60_000))],
    ['in chunks of one byte', body, '1\r\nx\r\n'.repeat(5000)],
    ['that is packed', `${head}Content-Encoding: gzip\r\n\r\n`, chunkOf(gzipSync(Buffer.alloc(100_000)))],
    ['of heads', '', 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'.repeat(50)],
    ['of one header', 'HTTP/1.1 200 OK\r\nX: ', 'x'.repeat(60_000)],
    ['of headers', 'HTTP/1.1 200 OK\r\n', 'X: y\r\n'.repeat(5000)],
    ['of trailers', `${body}0\r\n`, 'X: y\r\n'.repeat(5000)],
  ])('%s is left, over each kind of connection', async (place, first, again) => {
    for (const client of Object.values(await flooded(first, again))) {
      const whole = client.request(get()).then((answer) => answer.text(64 * 1024));
      // An endless body is too large; an endless head cannot be parsed.
      const kind = /data|byte|packed/.test(place) ? 'too_large' : 'unreadable';
      expect(await failureOf(whole)).toMatchObject({ kind });
      const streamed = client.request(get()).then((answer) => readAll(answer.stream()));
      expect(await failureOf(streamed)).toMatchObject({ kind });
    }
  });

  it.each(['plain', 'proxied', 'tunnelled', 'secure', 'socks'] as const)(
    'of chunk extensions is left by the count of all bytes: %s',
    async (way) => {
      const client = (await flooded(body, `1;${'e'.repeat(10_000)}\r\nx\r\n`))[way];
      const whole = client.request(get()).then((answer) => answer.text(64 * 1024));
      const streamed = client.request(get()).then((answer) => readAll(answer.stream()));
      for (const reading of [whole, streamed]) {
        const message = expect.stringContaining('131072 bytes');
        expect(await failureOf(reading)).toMatchObject({ kind: 'too_large', message });
      }
    },
  );

  it.each(['plain', 'proxied', 'tunnelled', 'secure', 'socks'] as const)(
    'has the count of its own bytes, not of its connection: %s',
    async (way) => {
      const bytes = `${body}1;${'e'.repeat(15_000)}\r\nx\r\n0\r\n\r\n`;
      const answers = (socket: Socket) => socket.write(bytes) && socket.on('data', () => socket.write(bytes));
      const client = (await clients(answers))[way];
      for (let count = 0; count < 20; count++) {
        expect(await (await client.request(get())).text(10)).toBe('x');
      }
    },
  );

  it('of headers full of spaces takes no more time than one of letters', async () => {
    const { plain } = await flooded('', `HTTP/1.1 103 Hi\r\nX: a${' '.repeat(15_000)}a\r\n\r\n`);
    const start = performance.now();
    expect(await failureOf(plain.request(get()))).toMatchObject({ kind: 'too_large' });
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

it('TLS through a SOCKS proxy is that of the target host, not of the proxy', async () => {
  const secure = closeAfterTest(await serveBytes((socket) => socket.end(), testCertificate));
  const socks = closeAfterTest(await serveSocks(secure.port));
  const client = clientOf('https://other.example', {
    authorities: [testCertificate.cert],
    proxies: { HTTPS_PROXY: proxyUrl(socks) },
  });
  const failure = await failureOf(client.request(get()));
  expect(failure).toMatchObject({ isSent: false, message: expect.stringContaining('other.example') });
});

it('a SOCKS proxy that does not respond is given up after the time to connect, and named', async () => {
  const silent = closeAfterTest(await serveBytes(() => {}));
  const client = clientOf('https://api.example', {
    proxies: { HTTPS_PROXY: proxyUrl(silent) },
    connectMs: 300,
  });
  const failure = await failureOf(client.request(get()));
  expect(failure).toMatchObject({ kind: 'timeout', isSent: false });
  expect(failure.message).toContain(`through the proxy 127.0.0.1:${silent.port}`);
});

describe('buffered bytes', () => {
  it('take no more memory than their blocks, whatever their original buffers', () => {
    const queue = new ChunkQueue();
    const count = 20_000;
    for (let index = 0; index < count; index++) {
      const buffer = new Uint8Array(index < 500 ? 64 * 1024 : 16);
      buffer[7] = index;
      queue.push(buffer.subarray(7, 8));
    }
    expect(queue.byteLength).toBe(count);
    const buffers = new Set<ArrayBufferLike>();
    const bytes: number[] = [];
    for (let chunk = queue.shift(); chunk !== undefined; chunk = queue.shift()) {
      buffers.add(chunk.buffer);
      bytes.push(...chunk);
    }
    expect(bytes).toEqual(Array.from({ length: count }, (_, index) => index % 256));
    expect([...buffers].reduce((sum, buffer) => sum + buffer.byteLength, 0)).toBeLessThan(count + 128 * 1024);
    expect(queue.byteLength).toBe(0);
  });

  it('are returned in order, large and small, one at a time or all together', () => {
    const chunks = [3, 40_000, 5, 6, 16_384, 1, 16_383, 16_383, 2].map((length, index) =>
      new Uint8Array(length).fill(index),
    );
    const expected = Buffer.concat(chunks);
    const together = new ChunkQueue();
    const single = new ChunkQueue();
    for (const chunk of chunks) {
      together.push(chunk);
      single.push(chunk);
    }
    expect(Buffer.compare(together.takeAll(), expected)).toBe(0);
    expect(together.byteLength).toBe(0);
    const read: Uint8Array[] = [];
    for (let chunk = single.shift(); chunk !== undefined; chunk = single.shift()) read.push(chunk);
    expect(Buffer.compare(Buffer.concat(read), expected)).toBe(0);
  });
});
