// `parley chat --batch` at a server: the order of its requests, its waits, when it gives up, and how it is stopped.
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batch, resultsOf, runBatch } from '../support/chat-batch.ts';
import { expectNoStackTrace } from '../support/failures.ts';
import { outcomeOf, Place } from '../support/parley.ts';
import {
  type ReceivedRequest,
  type Script,
  type ScriptedServer,
  sendJson,
  serve,
} from '../support/scripted-server.ts';

const place = new Place();
beforeAll(() => place.output(['models']));
afterAll(() => place.remove());

describe('a batch at a server', () => {
  const servers: ScriptedServer[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  async function at(answer: Script) {
    const server = await serve(answer);
    servers.push(server);
    return { server, env: { PARLEY_URL: server.url, PARLEY_API_KEY: 'key' } };
  }

  function echo({ body }: ReceivedRequest, response: ServerResponse) {
    const { message } = JSON.parse(body);
    sendJson(response, { success: true, session_id: `ses_${message}`, answer: message, data: { extra: 1 } });
  }

  test("requests whole responses, and prints those of other servers in Parley's form, with their data", async () => {
    const { server, env } = await at(echo);
    const { results: answered } = await runBatch(place, 'a', [], { env });
    expect(answered).toEqual([
      { id: 1, success: true, data: { session_id: 'ses_a', mode: 'echo', reply: 'a', extra: 1 } },
    ]);
    expect(server.requests[0]?.headers.accept).toBe('application/json');
  });

  test('keeps its concurrency and the order of its lines, whichever response comes first', async () => {
    let running = 0;
    let peak = 0;
    const { env } = await at(async (request, response, count) => {
      running += 1;
      peak = Math.max(peak, running);
      await delay(count % 3 === 0 ? 1 : 40);
      running -= 1;
      echo(request, response);
    });
    const lines = Array.from({ length: 24 }, (_, index) => `line${index}`);
    const { results: answered } = await runBatch(place, lines.join('\n'), ['--concurrency', '6'], { env });
    expect(answered.map(({ data }) => data?.reply)).toEqual(lines);
    expect(peak).toBe(6);
  });

  test('waits as long as the server says, and repeats the request with the same key', async () => {
    const turnedAway = new Set<string>();
    const times: number[] = [];
    const { server, env } = await at((request, response) => {
      const { message } = JSON.parse(request.body);
      if (message !== 'b' || turnedAway.has(message)) return echo(request, response);
      turnedAway.add(message);
      times.push(performance.now());
      response.setHeader('Retry-After', '1');
      return sendJson(response, { success: false, error: { code: 'RATE_LIMITED', message: 'Slower.' } }, 429);
    });
    const { status, results: answered } = await runBatch(place, 'a\nb\nc', [], { env });
    expect(status).toBe(0);
    expect(answered.map(({ data }) => data?.reply)).toEqual(['a', 'b', 'c']);
    const ofB = server.requests.filter(({ body }) => JSON.parse(body).message === 'b');
    expect(ofB.length).toBe(2);
    expect(ofB[1]?.headers['idempotency-key']).toBe(ofB[0]?.headers['idempotency-key']);
    expect(performance.now() - (times[0] ?? 0)).toBeGreaterThan(1000);
  });

  test('that refuses the key gets no further request, and the batch ends with 4', async () => {
    const refusals: ServerResponse[] = [];
    let echoed = 0;
    const { server, env } = await at((request, response) => {
      if (/"line[01]"/.test(request.body)) {
        response.on('finish', () => (echoed += 1));
        echo(request, response);
      } else refusals.push(response);
      // A refusal stops the batch, but not before the first two responses have arrived, in either order.
      const body = { success: false, error: { code: 'INVALID_API_KEY', message: 'No.' } };
      setTimeout(() => {
        if (echoed === 2) for (const refused of refusals.splice(0)) sendJson(refused, body, 401);
      }, 50);
    });
    const lines = Array.from({ length: 500 }, (_, index) => `line${index}`).join('\n');
    const { status, err, results: answered } = await runBatch(place, lines, ['--concurrency', '2'], { env });
    expect(status).toBe(4);
    expect(err).toContain('(INVALID_API_KEY)');
    expect(err).toContain('parley chat --batch --resume OUTPUT < INPUT');
    expect(server.requests.length).toBeLessThanOrEqual(4);
    expect(answered.slice(0, 2).map(({ success }) => success)).toEqual([true, true]);
    expect(answered.length).toBeLessThanOrEqual(4);
  });

  test('that cannot be reached ends it with 6 after some lines, not after all', async () => {
    const { server, env } = await at(echo);
    await server.close();
    const { status, results: answered } = await runBatch(
      place,
      'line\n'.repeat(2000),
      ['--concurrency', '8'],
      {
        env,
      },
    );
    expect(status).toBe(6);
    expect(answered.length).toBeLessThan(100);
    expect(answered[0]?.error?.code).toBe('NETWORK');
  });

  test('is stopped by Ctrl-C at once, with its open lines marked, and can be resumed', async () => {
    const output = join(place.path, 'stopped.ndjson');
    let holds = true;
    const { server, env } = await at((request, response) => {
      const { message } = JSON.parse(request.body);
      if (holds && message === 'c') return undefined;
      return echo(request, response);
    });
    const child = place.start([...batch, '--concurrency', '2'], env);
    const ended = outcomeOf(child);
    child.stdin.write('a\nb\nc\nd\ne\n');
    await expect.poll(() => server.requests).toHaveLength(5);
    await delay(50);
    child.kill('SIGINT');
    const first = await ended;
    expect(first.status).toBe(130);
    expect(first.err).toContain('Stopped: 4 requests answered, 1 stopped.');
    expectNoStackTrace(first.err);
    expect(resultsOf(first).map(({ id, error }) => [id, error?.code])).toEqual([
      [1, undefined],
      [2, undefined],
      [3, 'INCOMPLETE_REPLY'],
      [4, undefined],
      [5, undefined],
    ]);
    holds = false;
    writeFileSync(output, first.out);
    const { status, out } = await runBatch(place, 'a\nb\nc\nd\ne\nf\n', ['--resume', output], { env });
    expect({ status, out }).toEqual({ status: 0, out: '' });
    const ids = resultsOf({ out: readFileSync(output, 'utf8') }).map(({ id, success }) => [id, success]);
    expect(ids).toEqual([1, 2, 4, 5, 3, 6].map((id) => [id, true]));
    expect(server.requests.length).toBe(7);
  });
});
