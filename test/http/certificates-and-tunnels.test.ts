// Requests over TLS, and through a proxy.
import { describe, expect, it } from 'vitest';
import { type ScriptedServer, serve, serveBytes, serveProxy } from '../support/scripted-server.ts';
import { testCertificate } from '../support/test-certificate.ts';
import { clientOf, closeAfterTest, failureOf, get } from './client-fixture.ts';

describe('a certificate', () => {
  let server: ScriptedServer;
  const open = async () => {
    server = closeAfterTest(await serve((_request, response) => response.end('secret'), testCertificate));
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
    const plain = closeAfterTest(await serve((_request, response) => response.end()));
    const client = clientOf(plain.url.replace('http:', 'https:'));
    expect(await failureOf(client.request(get()))).toMatchObject({ kind: 'tls', isSent: false });
  });
});

describe('a proxy', () => {
  const request = get({ path: '/path?q=1', headers: Object.freeze({ Authorization: 'Bearer k' }) });

  it('to an https: server gets a request for a tunnel, with its password, and sees no header of the request', async () => {
    const server = closeAfterTest(
      await serve((_request, response) => response.end('through'), testCertificate),
    );
    const seen: string[] = [];
    const proxy = closeAfterTest(await serveProxy(server.port, (head) => seen.push(head)));
    const client = clientOf('https://api.example', {
      proxies: { HTTPS_PROXY: proxy.url.replace('//', '//user:word@') },
      authorities: [testCertificate.cert],
    });
    expect(await (await client.request(request)).text(10)).toBe('through');
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain('CONNECT api.example:443 HTTP/1.1');
    expect(seen[0]).toContain(`Basic ${btoa('user:word')}`);
    expect(seen[0]).not.toContain('Bearer');
    expect(server.requests[0]?.headers).toMatchObject({ host: 'api.example', authorization: 'Bearer k' });
    expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('to an http: server gets the request in absolute form, as from curl, with its own password', async () => {
    const server = closeAfterTest(await serve((_request, response) => response.end('through')));
    const seen: string[] = [];
    const proxy = closeAfterTest(await serveProxy(server.port, (head) => seen.push(head)));
    const client = clientOf('http://api.example:8080', {
      proxies: { HTTP_PROXY: proxy.url.replace('//', '//user:w%2Frd@') },
    });
    expect(await (await client.request(request)).text(10)).toBe('through');
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain('GET http://api.example:8080/path?q=1 HTTP/1.1');
    expect(seen[0]).toContain(`proxy-authorization: Basic ${btoa('user:w/rd')}`);
    expect(server.requests[0]).toMatchObject({
      path: '/path?q=1',
      headers: { host: 'api.example:8080', authorization: 'Bearer k' },
    });
  });

  it.each(['localhost', '127.0.0.1'])('over TLS at %s is checked by its own certificate', async (host) => {
    const server = closeAfterTest(await serve((_request, response) => response.end('through')));
    const proxy = closeAfterTest(await serveProxy(server.port, () => {}, testCertificate));
    const proxies = { HTTP_PROXY: `https://${host}:${proxy.port}` };
    const client = clientOf('http://other.example', { proxies, authorities: [testCertificate.cert] });
    expect(await (await client.request(request)).text(10)).toBe('through');
    const failure = await failureOf(clientOf('http://other.example', { proxies }).request(request));
    expect(failure).toMatchObject({ kind: 'untrusted', isSent: false });
  });

  it('that wants a password for an http: server is named', async () => {
    const proxy = closeAfterTest(
      await serveBytes((socket) => socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n')),
    );
    const client = clientOf('http://api.example', { proxies: { HTTP_PROXY: proxy.url } });
    expect(await failureOf(client.request(get({ method: 'POST', body: '{}' })))).toMatchObject({
      kind: 'proxy',
      isSent: false,
      message: `the proxy 127.0.0.1:${proxy.port} did not connect to api.example (407)`,
    });
  });

  it.each([407, 403, 502])('that refuses with %d is named, without its password', async (status) => {
    const proxy = closeAfterTest(await serveBytes((socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)));
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
    const proxy = closeAfterTest(
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
    const proxy = closeAfterTest(await serveBytes(() => {}));
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
