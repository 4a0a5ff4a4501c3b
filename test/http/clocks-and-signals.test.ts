// Requests that take too long, or are aborted.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/scripted-server.ts';
import { clientOf, closeAfterTest, failureOf, get, readAll, started } from './client-fixture.ts';

describe('a clock', () => {
  it('limits the wait for the head of a response', async () => {
    const { client } = await started(() => {}, { responseMs: 50 });
    expect(await failureOf(client.request(get()))).toMatchObject({ kind: 'timeout', isSent: true });
  });

  // A warning of Node fails the run: Node 22 and newer warn of a timer with a negative time.
  it('that is already over ends the wait without a warning', async () => {
    const { client } = await started(() => {}, { responseMs: 0 });
    expect(await failureOf(client.request(get()))).toMatchObject({ kind: 'timeout' });
  });

  const dripping: Script = async (_request, response) => {
    response.writeHead(200);
    for (let count = 0; count < 8 && !response.destroyed; count++) {
      response.write('.');
      await delay(30);
    }
    response.end();
  };

  it('limits a response that is read whole, however slowly it arrives', async () => {
    const { client } = await started(dripping, { responseMs: 100, silenceMs: 10_000 });
    const whole = client.request(get()).then((answer) => answer.text(100));
    expect(await failureOf(whole)).toMatchObject({ kind: 'timeout' });
  });

  it('limits neither a whole stream nor the time of its reader', async () => {
    const { client } = await started(dripping, { responseMs: 800, silenceMs: 800 });
    let text = '';
    for await (const chunk of (await client.request(get())).stream()) {
      text += Buffer.from(chunk).toString();
      if (text === '.') await delay(1000);
    }
    expect(text).toBe('........');
  });

  it('limits silence within a stream', async () => {
    const { client } = await started((_request, response) => response.writeHead(200).write('first'), {
      responseMs: 10_000,
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
    expect(failure).toMatchObject({ kind: 'timeout', isSent: true });
    expect(failure.message).toContain('0.05 s');
  });
});

describe('a clock that is over when a suspended process continues', () => {
  /** Sends a text, and suspends the process when the kernel has it. After that, the event loop runs its timers first. */
  function endAndStandStill(response: ServerResponse, text: string): void {
    setImmediate(() => {
      response.end(text);
      process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300));
    });
  }

  it('does not end a response that has arrived meanwhile', async () => {
    const { client } = await started((_request, response) => endAndStandStill(response, 'whole'), {
      responseMs: 100,
    });
    expect(await (await client.request(get())).text(10)).toBe('whole');
  });

  it('does not end a stream whose next chunk has arrived meanwhile', async () => {
    const { client } = await started(
      (_request, response) => {
        response.writeHead(200).write('first ');
        setTimeout(endAndStandStill, 20, response, 'second');
      },
      { silenceMs: 100 },
    );
    expect(await readAll((await client.request(get())).stream())).toBe('first second');
  });
});

describe('a signal', () => {
  const reason = new Error('stopped');

  it('that was aborted sends nothing', async () => {
    const { server, client } = await started((_request, response) => response.end());
    await expect(client.request(get({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    expect(server.requests).toHaveLength(0);
  });

  it('stops the wait for a response, and closes the connection', async () => {
    const stop = new AbortController();
    const gone = new AbortController();
    const { client } = await started((_request, response) => {
      response.on('close', () => gone.abort());
      stop.abort(reason);
    });
    await expect(client.request(get({ signal: stop.signal }))).rejects.toBe(reason);
    if (!gone.signal.aborted) await once(gone.signal, 'abort');
  });

  it('stops the reading of a response', async () => {
    const { client } = await started((_request, response) => response.writeHead(200).write('first'));
    for (const read of ['stream', 'text'] as const) {
      const stop = new AbortController();
      const answer = await client.request(get({ signal: stop.signal }));
      setTimeout(() => stop.abort(reason), 20);
      await expect(read === 'text' ? answer.text(10) : readAll(answer.stream())).rejects.toBe(reason);
    }
  });

  it('stops the wait for a connection', async () => {
    // This proxy accepts the request for a tunnel and never responds.
    const proxy = closeAfterTest(await serveBytes(() => {}));
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
