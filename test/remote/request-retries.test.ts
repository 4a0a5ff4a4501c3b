// A table of the requests that are retried after each outcome; and the waits between attempts.
import { describe, expect, it } from 'vitest';
import { HttpFailure, type HttpFailureKind } from '../../src/http/http-failure.ts';
import { RequestRetries, type RetryLater } from '../../src/remote/request-retries.ts';

const methods = ['GET', 'DELETE', 'POST', 'PATCH'] as const;

function retries(method: (typeof methods)[number], honoured = false, random = 0.5) {
  const waits: number[] = [];
  const wait = async (ms: number) => {
    waits.push(ms);
  };
  const { signal } = new AbortController();
  return {
    waits,
    it: new RequestRetries({
      method,
      honoursKeys: () => honoured,
      random: () => random,
      wait,
      signal,
      notice: undefined,
    }),
  };
}

const failed = (kind: HttpFailureKind, isSent: boolean) => new HttpFailure(kind, 'x', { isSent });
const away = (retryAfter: number | null = null): RetryLater => ({ retryAfter });

describe('a request', () => {
  const never: readonly HttpFailureKind[] = [
    'unknown_host',
    'untrusted',
    'tls',
    'proxy',
    'timeout',
    'redirect',
    'unreadable',
  ];
  // The letters: sent again as GET, DELETE, POST to a stranger, POST to a server that honours keys, PATCH.
  it.each<[string, HttpFailure | RetryLater, string]>([
    ['was turned away', away(), 'GDPKA'],
    ['never left: refused', failed('refused', false), 'GDPKA'],
    ['never left: unreachable', failed('unreachable', false), 'GDPKA'],
    ['never left: the name was not found now', failed('lookup', false), 'GDPKA'],
    ['never left: the handshake broke off', failed('broken', false), 'GDPKA'],
    ['got no answer', failed('broken', true), 'GDK'],
    ...never.flatMap((kind): [string, HttpFailure, string][] => [
      [`failed of ${kind}`, failed(kind, false), ''],
      [`was sent and failed of ${kind}`, failed(kind, true), ''],
    ]),
  ])('that %s is sent again if that is allowed', async (_, outcome, expected) => {
    const rows = [
      ['G', 'GET', false],
      ['D', 'DELETE', false],
      ['P', 'POST', false],
      ['K', 'POST', true],
      ['A', 'PATCH', true],
    ] as const;
    let again = '';
    for (const [letter, method, honoured] of rows) {
      if (await retries(method, honoured).it.next(outcome)) again += letter;
    }
    expect(again).toBe(expected);
  });

  it('is sent at most five times, or three times if nothing responds', async () => {
    for (const [outcome, times] of [
      [away(), 4],
      [failed('broken', true), 4],
      [failed('refused', false), 2],
    ] as const) {
      const { it: request, waits } = retries('GET');
      while (await request.next(outcome)) expect(waits.length).toBeLessThan(10);
      expect(waits).toHaveLength(times);
    }
  });
});

describe('the wait', () => {
  it('doubles, with jitter', async () => {
    const waitsWith = async (random: number) => {
      const { it: request, waits } = retries('GET', false, random);
      while (await request.next(away()));
      return waits;
    };
    expect(await waitsWith(0)).toEqual([125, 250, 500, 1000]);
    expect(await waitsWith(1)).toEqual([375, 750, 1500, 3000]);
  });

  it('is at least as long as the server asks for', async () => {
    const { it: request, waits } = retries('POST');
    for (const seconds of [0, 3, 30]) expect(await request.next(away(seconds))).toBe(true);
    expect(waits).toEqual([250, 3500, 31_000]);
  });

  it('does not start if the server asks for more than half a minute', async () => {
    const { it: request, waits } = retries('GET');
    expect(await request.next(away(31))).toBe(false);
    expect(waits).toEqual([]);
  });
});

describe('a request sent again', () => {
  it('may have had its effect before only if it had left', async () => {
    const { it: request } = retries('DELETE');
    expect(request.mayHaveActed).toBe(false);
    await request.next(failed('refused', false));
    expect(request.mayHaveActed).toBe(false);
    await request.next(failed('broken', true));
    expect(request.mayHaveActed).toBe(true);
  });
});
