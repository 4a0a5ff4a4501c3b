// Proxies from the environment, with the built program: the build contains only the used parts of undici.
import { expect, onTestFinished, test } from 'vitest';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { sendJson, serve, serveProxy, serveSocks } from '../support/scripted-server.ts';

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
