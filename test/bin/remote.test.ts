// The built program and a server: plain HTTP, TLS, and a proxy. The build contains only parts of its packages.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/embedded.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { type Script, sendJson, serve, serveProxy } from '../support/scripted-server.ts';
import { testCertificate } from '../support/test-certificate.ts';

const parley = fileURLToPath(new URL('../../bin/parley.js', import.meta.url));

function closeAfterTest<T extends { close(): Promise<void> }>(thing: T): T {
  onTestFinished(() => thing.close());
  return thing;
}

async function place(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  return directory.path;
}

async function run(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const backend = await place();
  const child = spawn(process.execPath, [parley, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      PARLEY_CONFIG_DIR: join(backend, 'config'),
      PARLEY_DATA_DIR: join(backend, 'data'),
      PARLEY_API_KEY: 'the-key',
      ...env,
    },
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { status: child.exitCode, stdout, stderr };
}

const chat = (url: string) => ['chat', '--url', url, '--mode', 'm', 'hello'];
const replying: Script = (_request, response) =>
  sendJson(response, { success: true, data: { session_id: 's-1', reply: 'Hé 😀' } });

describe('a chat with a server', () => {
  it('prints its reply, and leaves no store behind', async () => {
    const server = closeAfterTest(await serve(replying));
    expect(await run(chat(server.url))).toEqual({ status: 0, stdout: 'Hé 😀\n', stderr: '' });
    expect(server.requests[0]?.headers.authorization).toBe('Bearer the-key');
  });

  it('goes on with -c', async () => {
    const server = closeAfterTest(await serve(replying));
    const data = { PARLEY_DATA_DIR: await place() };
    await run(chat(server.url), data);
    await run([...chat(server.url), '-c'], data);
    expect(server.requests.map(({ body }) => JSON.parse(body).session_id)).toEqual([undefined, 's-1']);
  });

  it('prints the server’s own body with --json, unknown fields and all, also of a failure', async () => {
    const body = { success: true, data: { session_id: 's-1', state: 'queued' }, odd: [1] };
    const server = closeAfterTest(await serve((_request, response) => sendJson(response, body)));
    const { status, stdout } = await run([...chat(server.url), '--json']);
    expect([status, JSON.parse(stdout)]).toEqual([1, body]);
  });

  it('traces with --debug, without the key', async () => {
    const server = closeAfterTest(await serve(replying));
    const { stdout, stderr } = await run([...chat(server.url), '--debug']);
    expect(stdout).toBe('Hé 😀\n');
    expect(stderr).toMatch(/^curl .*\$PARLEY_API_KEY.*\n# status 200 after \d+ ms\n$/);
    expect(stderr).not.toContain('the-key');
  });

  it('over TLS needs to be told whom to trust', async () => {
    const server = closeAfterTest(await serve(replying, testCertificate));
    const refused = await run(chat(server.url));
    expect([refused.status, refused.stdout]).toEqual([6, '']);
    expect(refused.stderr).toContain('--ca FILE');
    const file = join(await place(), 'authority.pem');
    await writeFile(file, testCertificate.cert);
    expect(await run([...chat(server.url), '--ca', file])).toMatchObject({ status: 0, stdout: 'Hé 😀\n' });
    expect(await run(chat(server.url), { NODE_EXTRA_CA_CERTS: file })).toMatchObject({ status: 0 });
  });

  it('goes through a proxy', async () => {
    const server = closeAfterTest(await serve(replying));
    const heads: string[] = [];
    const proxy = closeAfterTest(await serveProxy(server.port, (head) => heads.push(head)));
    const words = [...chat('http://api.example/base'), '--insecure-http'];
    expect(await run(words, { HTTP_PROXY: proxy.url })).toMatchObject({ status: 0, stdout: 'Hé 😀\n' });
    expect(heads).toEqual([expect.stringContaining('POST http://api.example/base/v1/chat HTTP/1.1')]);
    expect(server.requests[0]).toMatchObject({ path: '/base/v1/chat', headers: { host: 'api.example' } });
  });
});

describe('a server of another protocol', () => {
  it.each<[string, Script, number]>([
    ['a page', (_request, response) => response.end('<!doctype html><h1>It works!</h1>'), 1],
    ['an error page', (_request, response) => response.writeHead(501).end('<h1>Unsupported</h1>'), 1],
    ['a redirect', (_request, response) => response.writeHead(302, { location: '/login' }).end(), 6],
    ['a refusal', (_request, response) => response.writeHead(401).end('no'), 4],
    ['an odd success', (_request, response) => response.end('{"ok":true}'), 1],
  ])('%s is reported in a clear line, without a stack', async (_, script, expected) => {
    const server = closeAfterTest(await serve(script));
    const there = removeAfterTest(new PlaceInProcess());
    const env = { PARLEY_API_KEY: 'the-key', PARLEY_URL: server.url };
    const outcomes = [await there.binary(['verify'], { env })];
    for (const words of [['models'], ['chat', '-m', 'm', 'hello'], ['sessions', 'get', 'x']])
      outcomes.push(await there.parley(words, { env }));
    for (const { status, out, err } of outcomes) {
      expect([status, out]).toEqual([expected, '']);
      expect(err).toMatch(/^parley: .+ \([A-Z_]+\)\n(.+\n)?$/);
      expect(err).not.toMatch(/<|\n {4}at /);
    }
  });
});
