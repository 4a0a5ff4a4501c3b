// Broken and missing servers: each failure has a code and a clear message, and no partial response counts as complete.
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RemoteOptions } from '../../src/remote/remote-options.ts';
import type { ErrorCode } from '../../src/service/errors.ts';
import { callWith, collect, failureOf, say } from '../support/calls.ts';
import { openRemote } from '../support/remote.ts';
import { type Script, serve, serveBytes } from '../support/scripted-server.ts';

async function remote(server: { url: string; close(): Promise<void> }, options?: Partial<RemoteOptions>) {
  const { backend, waits } = await openRemote(server.url, options);
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  return { backend, waits, call: callWith('k') };
}

const body = { success: true, data: { session_id: 's-1', message_id: 'm-1', reply: 'Hé 😀', text: 'Hé 😀' } };
const text = JSON.stringify(body);
const nested = `{"success":true,"data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
const page = '<!doctype html><title>Apache</title><h1>It works!</h1>';

describe('an answer', () => {
  it.each<[string, ErrorCode, Script]>([
    [
      'that is an HTML page',
      'BAD_RESPONSE',
      (_, response) => response.setHeader('content-type', 'text/html').end(page),
    ],
    ['of 502 in HTML', 'BAD_RESPONSE', (_, response) => response.writeHead(502).end(page)],
    ['of 404 in HTML', 'BAD_RESPONSE', (_, response) => response.writeHead(404).end(page)],
    ['of 501 in HTML', 'BAD_RESPONSE', (_, response) => response.writeHead(501).end(page)],
    ['that is cut JSON', 'BAD_RESPONSE', (_, response) => response.end(text.slice(0, -9))],
    ['that is empty', 'BAD_RESPONSE', (_, response) => response.end()],
    ['that is null', 'BAD_RESPONSE', (_, response) => response.end('null')],
    ['nested 200,000 deep', 'BAD_RESPONSE', (_, response) => response.end(nested)],
    ['of 304', 'BAD_RESPONSE', (_, response) => response.writeHead(304).end()],
    ['of 302 to nowhere', 'BAD_RESPONSE', (_, response) => response.writeHead(302).end()],
    ['that is a bare array', 'BAD_RESPONSE', (_, response) => response.end('[]')],
    ['of a redirect', 'REDIRECT', (_, response) => response.writeHead(302, { location: '/login' }).end()],
    ['of 503 in HTML', 'UNAVAILABLE', (_, response) => response.writeHead(503).end(page)],
    ['of 401 in HTML', 'INVALID_API_KEY', (_, response) => response.writeHead(401).end(page)],
    ['that never comes', 'TIMEOUT', () => {}],
    [
      'whose end never comes',
      'TIMEOUT',
      (_, response) => response.writeHead(200, { 'content-length': 100 }).write('{"success"'),
    ],
    ['that is not UTF-8', 'BAD_RESPONSE', (_, response) => response.end(Buffer.from(text, 'latin1'))],
    [
      'in damaged gzip',
      'BAD_RESPONSE',
      (_, response) => response.setHeader('content-encoding', 'gzip').end('not gzip'),
    ],
  ])('%s is %s', async (_fact, code, script) => {
    const { backend, call } = await remote(await serve(script), { timeout: code === 'TIMEOUT' ? 0.2 : 20 });
    const { service } = backend;
    const works = [() => service.verify(call), () => service.models(call), () => say(service, call, 'x')];
    for (const work of works) {
      const failure = await failureOf(work());
      expect(failure.code).toBe(code);
      expect(failure.message).not.toMatch(/[\n<]/);
      expect(failure.message).toMatch(/\.$/);
    }
  });

  it('of a redirect names both places', async () => {
    const server = await serve((_, response) =>
      response.writeHead(307, { location: 'https://b.example/x' }).end(),
    );
    const { backend, call } = await remote(server);
    const { message } = await failureOf(backend.service.verify(call));
    expect(message).toContain(server.url);
    expect(message).toContain('https://b.example/x');
  });

  it('in gzip is read, whole and as a stream', async () => {
    const { backend, call } = await remote(
      await serve((request, response) => {
        const streams = JSON.parse(request.body).mode === 'stream';
        response.setHeader('content-encoding', 'gzip');
        response.setHeader('content-type', streams ? 'text/event-stream' : 'application/json');
        response.end(gzipSync(streams ? `event: done\ndata: ${text}\n\n` : text));
      }),
    );
    expect((await say(backend.service, call, 'x', null, 'stream')).reply).toBe('Hé 😀');
    expect((await say(backend.service, call, 'x', null, 'json')).reply).toBe('Hé 😀');
  });

  it('of the wrong type is read as JSON, and as a stream only with that type', async () => {
    const { backend, call } = await remote(
      await serve((request, response) => {
        response.setHeader('content-type', 'application/octet-stream');
        response.end(JSON.parse(request.body).mode === 'stream' ? `event: done\ndata: ${text}\n\n` : text);
      }),
    );
    expect((await say(backend.service, call, 'x', null, 'json')).reply).toBe('Hé 😀');
    expect((await failureOf(say(backend.service, call, 'x', null, 'stream'))).code).toBe('BAD_RESPONSE');
  });

  it('too large is refused', async () => {
    const { backend, call } = await remote(
      await serve((_, response) => {
        response.setHeader('content-encoding', 'gzip');
        response.end(gzipSync(Buffer.alloc(65 * 1024 * 1024, 0x20)));
      }),
    );
    expect((await failureOf(backend.service.verify(call))).code).toBe('BAD_RESPONSE');
  });
});

describe('a connection', () => {
  it.each(['end', 'resetAndDestroy'] as const)(
    'that ends (%s) without an answer is the network',
    async (end) => {
      const { backend, call } = await remote(await serveBytes((socket) => socket[end]()));
      const failure = await failureOf(say(backend.service, call, 'x'));
      expect(failure.code).toBe('NETWORK');
      expect(failure.hint).toContain('may have carried out');
    },
  );

  it('to an address without a server names the address, and the remedy', async () => {
    const server = await serve(() => {});
    await server.close();
    const { backend, call } = await remote({ url: server.url, close: async () => {} });
    const failure = await failureOf(backend.service.verify(call));
    expect(failure.code).toBe('NETWORK');
    expect(failure.message).toContain(`127.0.0.1:${server.port}`);
    expect(failure.hint).toContain('server is running');
  });

  it('to a server that does not speak HTTP fails', async () => {
    const { backend, call } = await remote(await serveBytes((socket) => socket.write('SSH-2.0-OpenSSH\r\n')));
    expect((await failureOf(backend.service.verify(call))).code).toBe('BAD_RESPONSE');
  });
});

describe('a stream', () => {
  const events = ['session', 'delta', 'done'].map((event) => `event: ${event}\ndata: ${text}\n\n`);
  const streaming = (send: (response: Parameters<Script>[1]) => unknown) =>
    serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return send(response);
    });

  it('in single bytes is whole', async () => {
    const { backend, call } = await remote(
      await streaming(async (response) => {
        for (const byte of Buffer.from(events.join('').replaceAll('\n', '\r\n'))) {
          await new Promise((sent) => response.write(Buffer.from([byte]), sent));
        }
        response.end();
      }),
    );
    const all = await collect(
      backend.service.chat(call, { mode: 'm', message: 'x', session_id: null }, 'chunks'),
    );
    expect(all.map(({ event }) => event)).toEqual(['session', 'delta', 'done']);
    expect(all[2]).toMatchObject({ body, data: { reply: 'Hé 😀' } });
  });

  it('that ends with an error event is that error, and names the session', async () => {
    const error = { success: false, error: { code: 'ENGINE_TIMEOUT', message: 'Too slow.' } };
    const { backend, call } = await remote(
      await streaming((response) =>
        response.end(`${events[0]}event: error\ndata: ${JSON.stringify(error)}\n\n`),
      ),
    );
    expect(await failureOf(say(backend.service, call, 'x'))).toMatchObject({
      code: 'ENGINE_TIMEOUT',
      message: 'Too slow.',
      session_id: 's-1',
      message_id: 'm-1',
      body: error,
    });
  });

  it('with an event that cannot be read is no reply', async () => {
    const { backend, call } = await remote(
      await streaming((response) => response.end('event: done\ndata: [DONE]\n\n')),
    );
    expect((await failureOf(say(backend.service, call, 'x'))).code).toBe('BAD_RESPONSE');
  });

  it('with only unknown events is no reply', async () => {
    const { backend, call } = await remote(
      await streaming((response) => response.end('data: {"choices":[]}\n\ndata: [DONE]\n\n')),
    );
    expect((await failureOf(say(backend.service, call, 'x'))).code).toBe('INCOMPLETE_REPLY');
  });

  it('is not requested from a server without streams', async () => {
    const server = await serve((request, response) => {
      response.end(
        JSON.stringify({ success: true, data: { session_id: 's', reply: request.headers.accept } }),
      );
    });
    const { backend, call } = await remote(server, { extensions: ['archive'] });
    expect((await say(backend.service, call, 'x')).reply).toBe('application/json');
    const unknown = await openRemote(server.url);
    onTestFinished(() => unknown.backend.close());
    expect((await say(unknown.backend.service, call, 'x')).reply).toContain('text/event-stream');
  });

  it('that is stopped throws the reason of the signal', async () => {
    const { backend } = await remote(await streaming((response) => response.write(events[0])));
    const stop = new AbortController();
    const reason = new Error('stopped');
    const call = callWith('k', { signal: stop.signal });
    const chat = async () => {
      for await (const { event } of backend.service.chat(
        call,
        { mode: 'm', message: 'x', session_id: null },
        'chunks',
      )) {
        expect(event).toBe('session');
        setTimeout(() => stop.abort(reason), 20);
      }
    };
    await expect(chat()).rejects.toBe(reason);
  });

  it('whose reader leaves is closed', async () => {
    const left = new AbortController();
    const { backend, call } = await remote(
      await streaming((response) => {
        response.on('close', () => left.abort());
        response.write(events.slice(0, 2).join(''));
      }),
    );
    for await (const { event } of backend.service.chat(
      call,
      { mode: 'm', message: 'x', session_id: null },
      'chunks',
    )) {
      if (event === 'delta') break;
    }
    if (!left.signal.aborted) await new Promise((resolve) => left.signal.addEventListener('abort', resolve));
  });
});
