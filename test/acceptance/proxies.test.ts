// Proxies from the environment, with the built program: the build contains only the used parts of undici.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { sendJson, serve, serveProxy, serveSocks } from '../support/scripted-server.ts';
import { testCertificate } from '../support/test-certificate.ts';

const openProxy = (port: number) => serveProxy(port, () => {});

test.each([
  ['an HTTP proxy', (port: number) => `http://127.0.0.1:${port}`, openProxy],
  ['an HTTP proxy whose URL has a path', (port: number) => `http://127.0.0.1:${port}/path?query`, openProxy],
  ['a SOCKS proxy', (port: number) => `socks5://127.0.0.1:${port}`, serveSocks],
] as const)('the built program reaches its server through %s', async (_name, urlOf, open) => {
  const place = removeAfterTest(new PlaceInProcess());
  const server = await serve((_request, response) =>
    sendJson(response, { success: true, data: { ok: 'yes' } }),
  );
  const proxy = await open(server.port);
  onTestFinished(async () => {
    await proxy.close();
    await server.close();
  });
  const env = { HTTP_PROXY: urlOf(proxy.port), PARLEY_API_KEY: 'key-of-the-server' };
  const words = ['verify', '--url', 'http://api.example', '--insecure-http'];
  const { status, out, err } = await place.binary(words, { env });
  expect({ status, out, err }).toEqual({ status: 0, out: 'ok: yes\n', err: '' });
  expect(server.requests[0]?.headers.authorization).toBe('Bearer key-of-the-server');
});

test('the built program reaches an https: server through a tunnel', async () => {
  const place = removeAfterTest(new PlaceInProcess());
  const server = await serve(
    (_request, response) => sendJson(response, { success: true, data: { ok: 'yes' } }),
    testCertificate,
  );
  const heads: string[] = [];
  const proxy = await serveProxy(server.port, (head) => heads.push(head));
  onTestFinished(async () => {
    await proxy.close();
    await server.close();
  });
  const authority = join(place.path, 'authority.pem');
  writeFileSync(authority, testCertificate.cert);
  const env = { HTTPS_PROXY: proxy.url, PARLEY_API_KEY: 'key-of-the-server' };
  const words = ['verify', '--url', 'https://api.example', '--ca', authority];
  expect(await place.binary(words, { env })).toMatchObject({ status: 0, out: 'ok: yes\n', err: '' });
  expect(heads).toEqual([expect.stringMatching(/^CONNECT api\.example:443 /)]);
  expect(heads[0]).not.toContain('key-of-the-server');
});
