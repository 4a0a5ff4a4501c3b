// Requests over TLS, and through a proxy.
import { describe, expect, it } from 'vitest';
import { type ScriptedServer, serve, serveBytes, serveProxy } from '../support/scripted-server.ts';
import { testCertificate } from '../support/test-certificate.ts';
import { clientOf, failureOf, get, kept } from './client-fixture.ts';

describe('a certificate', () => {
  let server: ScriptedServer;
  const open = async () => {
    server = kept(await serve((_request, response) => response.end('secret'), testCertificate));
  };

  it('of an unknown authority is refused before anything is sent', async () => {
    await open();
    const failure = await failureOf(clientOf(server.url).request(get({ headers: { Authorization: 'k' } })));
    expect(failure).toMatchObject({ kind: 'untrusted', isSent: false });
    expect(server.requests).toHaveLength(0);
  });

  it('that is trusted is accepted', async () => {
    await open();
    const client = clientOf(server.url, { authorities: [testCertificate.cert] });
    expect(await (await client.request(get())).text(10)).toBe('secret');
  });

  it('is requested from a server without TLS: the failure is reported as TLS', async () => {
    const plain = kept(await serve((_request, response) => response.end()));
    const client = clientOf(plain.url.replace('http:', 'https:'));
    expect(await failureOf(client.request(get()))).toMatchObject({ kind: 'tls', isSent: false });
  });
});

describe('a proxy', () => {
  it('gets a request for a tunnel, with its password, and sees no header of the request', async () => {
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
    expect(failure).toMatchObject({ kind: 'proxy', isSent: false });
    expect(failure.message).toContain(`127.0.0.1:${proxy.port}`);
    expect(failure.message).toMatch(new RegExp(`\\(${status}\\)$`));
    expect(failure.message).not.toContain('word');
  });

  it('that hangs up is named, and is not asked again', async () => {
    let count = 0;
    const proxy = kept(
      await serveBytes((socket) => {
        count += 1;
        socket.end();
      }),
    );
    const failure = await failureOf(
      clientOf('https://api.example', { proxies: { HTTPS_PROXY: proxy.url } }).request(get()),
    );
    expect(failure).toMatchObject({ kind: 'proxy', isSent: false });
    expect(failure.message).toContain(`127.0.0.1:${proxy.port}`);
    expect(count).toBe(1);
  });

  it('that does not respond is given up after the time to connect', async () => {
    const proxy = kept(await serveBytes(() => {}));
    const client = clientOf('https://api.example', { proxies: { HTTPS_PROXY: proxy.url }, connectMs: 300 });
    const failure = await failureOf(client.request(get()));
    expect(failure).toMatchObject({ kind: 'timeout', isSent: false });
    expect(failure.message).toContain(`through the proxy 127.0.0.1:${proxy.port}`);
  });

  it('that does not exist is named', async () => {
    const proxy = await serve(() => {});
    await proxy.close();
    const client = clientOf('http://api.example', { proxies: { HTTP_PROXY: proxy.url } });
    const failure = await failureOf(client.request(get()));
    expect(failure).toMatchObject({ kind: 'proxy', isSent: false });
    expect(failure.message).toContain(`the proxy 127.0.0.1:${proxy.port}`);
  });
});
