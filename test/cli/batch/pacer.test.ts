// The pace of calls to a server that refuses some: pauses, concurrency, and when the batch ends.
import { expect, test } from 'vitest';
import { Pacer, type PacerOptions } from '../../../src/cli/batch/pacer.ts';
import { ParleyError } from '../../../src/service/errors.ts';

/** A pacer whose clock moves only by its pauses. */
function paced(concurrency: number, more: Partial<PacerOptions> = {}) {
  const clock = { now: 1_000_000 };
  const notices: string[] = [];
  const stop = new AbortController();
  const pacer = new Pacer({
    maxConcurrency: concurrency,
    maxUnanswered: 16,
    isRefused: ({ code }) => code === 'RATE_LIMITED',
    giveUp: (error) => stop.abort(error),
    say: (line) => notices.push(line),
    signal: stop.signal,
    now: () => clock.now,
    random: () => 0,
    wait: async (milliseconds) => {
      clock.now += milliseconds;
    },
    ...more,
  });
  return { pacer, clock, stop, notices };
}

function limited(retryAfter: number | null = null): ParleyError {
  return new ParleyError('RATE_LIMITED', 'Slower.', { retryAfter });
}

/** A call that is refused this many times, and then succeeds. */
function turnedAway(times: number, retryAfter: number | null = null) {
  let left = times;
  return async () => {
    left -= 1;
    if (left >= 0) throw limited(retryAfter);
    return 'answer';
  };
}

test('a refused call is repeated after a pause, and then half as many calls run at once', async () => {
  const { pacer, clock } = paced(16);
  const began = clock.now;
  expect(pacer.limit).toBe(16);
  expect(await pacer.run(turnedAway(1))).toBe('answer');
  expect([pacer.limit, clock.now - began]).toEqual([8, 250]);
});

test('the error names who refused the last call', async () => {
  const { pacer } = paced(1);
  expect(pacer.refusalOf('https://parley.example:8443/api')).toBeNull();
  await pacer.run(turnedAway(1));
  expect(pacer.refusalOf('https://parley.example:8443/api')).toBe('parley.example:8443 says 429');
  expect(pacer.refusalOf(null)).toBeNull();
});

test('calls that are refused at the same time count once', async () => {
  const { pacer } = paced(16);
  await Promise.all(Array.from({ length: 16 }, () => pacer.run(turnedAway(1))));
  // Half of 16; the successes of the 16 add one and a fraction.
  expect(pacer.limit).toBe(9);
});

test('successful rounds increase the concurrency by one each, up to the limit', async () => {
  const { pacer } = paced(16);
  await pacer.run(turnedAway(1));
  for (let answer = 0; answer < 8; answer += 1) await pacer.run(turnedAway(0));
  expect(pacer.limit).toBe(9);
  for (let answer = 0; answer < 1000; answer += 1) await pacer.run(turnedAway(0));
  expect(pacer.limit).toBe(16);
});

test('no more calls run at once than the limit says, and all of them run in the end', async () => {
  const { pacer } = paced(16);
  for (let refusal = 0; refusal < 3; refusal += 1) await pacer.run(turnedAway(1));
  let running = 0;
  let peak = 0;
  const call = async () => {
    running += 1;
    peak = Math.max(peak, running - pacer.limit);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
  };
  await Promise.all(Array.from({ length: 60 }, () => pacer.run(call)));
  expect([peak, running]).toEqual([0, 0]);
});

test('a pause is as long as the server says, or longer each time if it says nothing', async () => {
  const { pacer, clock, notices } = paced(4);
  const began = clock.now;
  await pacer.run(turnedAway(1, 7));
  expect(clock.now - began).toBe(7000);
  await pacer.run(turnedAway(4));
  expect(clock.now - began).toBe(7000 + 250 + 500 + 1000 + 2000);
  expect(notices).toEqual([
    'The server asks to wait 7 s: waiting 7 s, then sending 2 at a time.',
    'The server is overloaded: waiting 2 s, then sending 1 at a time.',
  ]);
});

test('a pause for a server of a model that cannot be reached says so', async () => {
  const { pacer, notices } = paced(4, { isRefused: ({ code }) => code === 'UNAVAILABLE' });
  const details = [{ field: 'model_server', problem: 'unreachable' }];
  let left = 4;
  await pacer.run(async () => {
    left -= 1;
    if (left >= 0) throw new ParleyError('UNAVAILABLE', 'Nothing listens there.', { details });
  });
  expect(notices).toEqual(['The model’s server cannot be reached: waiting 2 s, then sending 1 at a time.']);
});

test('a minute with only refusals ends the batch; a success in between restarts the minute', async () => {
  const { pacer, clock, stop } = paced(4);
  await pacer.run(turnedAway(8));
  expect(stop.signal.aborted).toBe(false);
  const began = clock.now;
  const waiting = [1, 2, 3].map(() => pacer.run(turnedAway(Number.POSITIVE_INFINITY, 0)));
  const ends = await Promise.allSettled(waiting);
  expect((clock.now - began) / 1000).toBeGreaterThan(30);
  expect(stop.signal.reason).toMatchObject({ code: 'RATE_LIMITED' });
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
});

test('a requested wait of hours ends the batch at once', async () => {
  const { pacer, clock, stop } = paced(4);
  const began = clock.now;
  await expect(pacer.run(turnedAway(1, 86_400))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect([clock.now, stop.signal.aborted]).toEqual([began, true]);
});

test('a call that is refused while others succeed fails after its attempts, and the batch continues', async () => {
  const { pacer, stop } = paced(4, { maxTries: 9 });
  let tries = 0;
  const refused = pacer.run(async () => {
    tries += 1;
    throw limited(0);
  });
  const others = (async () => {
    while (tries < 9) await pacer.run(turnedAway(0));
  })();
  await expect(refused).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await others;
  expect([tries, stop.signal.aborted]).toEqual([9, false]);
});

test.each([
  ['NETWORK', 16],
  ['STORE_BUSY', 16],
  ['INVALID_API_KEY', 1],
  ['STORAGE_FULL', 1],
] as const)('%s ends the batch after %i of them in a row', async (code, count) => {
  const { pacer, stop } = paced(16);
  const fail = () => pacer.run(() => Promise.reject(new ParleyError(code, 'No.'))).catch(() => {});
  for (let call = 1; call < count; call += 1) await fail();
  expect(stop.signal.aborted).toBe(false);
  await fail();
  expect(stop.signal.aborted).toBe(true);
});

test('a failure of a single item never ends the batch', async () => {
  const { pacer, stop } = paced(16);
  for (const code of ['NETWORK', 'SESSION_NOT_FOUND', 'SESSION_BUSY', 'INTERNAL_ERROR'] as const) {
    for (let call = 0; call < 15; call += 1)
      await pacer.run(() => Promise.reject(new ParleyError(code, 'No.'))).catch(() => {});
  }
  expect(stop.signal.aborted).toBe(false);
});

test('all waiting calls reject at a stop', async () => {
  const { pacer, stop } = paced(1);
  let end = () => {};
  const running = pacer.run(() => new Promise<void>((resolve) => (end = resolve)));
  const waiting = pacer.run(async () => 'never');
  stop.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  end();
  await running;
});
