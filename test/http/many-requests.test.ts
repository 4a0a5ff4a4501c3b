// A client with many requests.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HttpClient } from '../../src/http/http-client.ts';
import { type Script, serve } from '../support/scripted-server.ts';

async function started(script: Script, responseMs = 20_000) {
  const server = await serve(script);
  const limits = {
    maxBytes: 64 * 1024 * 1024,
    connectMs: 20_000,
    responseMs,
    detectsStale: false,
    silenceMs: 20_000,
  };
  const client = new HttpClient({ origin: server.url, proxies: {}, authorities: null, ...limits });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  const ask = (path: string, { body = null as string | null, signal = new AbortController().signal } = {}) =>
    client.request({ method: 'POST', path, headers: { 'X-Path': path }, body, signal });
  return { server, client, ask };
}

async function inParallel(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

const echo: Script = ({ path, body, headers }, response) => {
  if (path === '/cut')
    response.writeHead(200, { 'content-length': 10 }).write('half', () => response.destroy());
  else if (path !== '/silent') response.end(`${headers['x-path']} ${body}`);
};

describe('a client of many requests', () => {
  it('gives each request its own response, over few connections', async () => {
    const { server, ask } = await started(echo);
    const early = await (await ask('/first', { body: 'é' })).text(100);
    // By then the server is known to keep connections.
    await delay(100);
    await inParallel(400, async (number) => {
      const answer = await ask(`/${number}`, { body: `${number}` });
      expect(await answer.text(100)).toBe(`/${number} ${number}`);
    });
    expect(early).toBe('/first é');
    expect(server.requests).toHaveLength(401);
    expect(new Set(server.requests.map(({ path }) => path)).size).toBe(401);
    // As many as there were requests at a time.
    expect(server.connections()).toBe(8);
  });

  it('reports failures, limits and stops as at first', async () => {
    const { server, ask, client } = await started(echo, 2000);
    const timeouts: Promise<void>[] = [];
    for (const isLater of [false, true]) {
      if (isLater) await inParallel(100, async () => void (await (await ask('/warm')).text(100)));
      await expect((await ask('/cut')).text(100)).rejects.toMatchObject({ kind: 'broken', isSent: true });
      await expect((await ask('/large', { body: 'x'.repeat(200) })).text(100)).rejects.toMatchObject({
        kind: 'too_large',
      });
      const stop = new AbortController();
      const stopped = ask('/silent', { signal: stop.signal });
      const reason = new Error('stopped');
      setTimeout(() => stop.abort(reason), 50);
      await expect(stopped).rejects.toBe(reason);
      timeouts.push(expect(ask('/silent')).rejects.toMatchObject({ kind: 'timeout', isSent: true }));
    }
    await Promise.all(timeouts);
    await server.close();
    // The client first has to learn that its kept connections are closed.
    await delay(100);
    await expect(ask('/gone')).rejects.toMatchObject({ kind: 'refused', isSent: false });
    await client.close();
  });

  it('has one listener on a shared signal, and none when everything is read', async () => {
    const { ask } = await started(echo);
    const { signal } = new AbortController();
    const listeners = { most: 0, now: 0 };
    const counted = new Proxy(signal, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'addEventListener') listeners.most = Math.max(listeners.most, ++listeners.now);
        if (name === 'removeEventListener') listeners.now -= 1;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await inParallel(100, async () => void (await (await ask('/', { signal: counted })).text(100)));
    expect(listeners).toEqual({ most: 1, now: 0 });
  });
});
