// The bytes of a response body between the connection and the reader: none is lost, and few are buffered.
import { describe, expect, it } from 'vitest';
import { ResponseBody } from '../../src/http/response-body.ts';

function bodyOf(maxBytes = 1_000_000) {
  const calls: string[] = [];
  const source = {
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    abort: ({ message }: Error) => calls.push(`abort: ${message}`),
  };
  const body = new ResponseBody(source, maxBytes);
  return { body, calls };
}

const bytes = (text: string) => new TextEncoder().encode(text);
const large = new Uint8Array(70_000);

describe('the body of a response', () => {
  it('pauses its connection while its reader is slower, and only then', async () => {
    const { body, calls } = bodyOf();
    body.push(bytes('first'));
    expect(calls).toEqual([]);
    body.push(large);
    body.push(large);
    expect(calls).toEqual(['pause']);
    const sizes: number[] = [];
    for await (const chunk of body) {
      sizes.push(chunk.byteLength);
      if (sizes.length === 3) {
        expect(calls).toEqual(['pause']);
        setImmediate(() => {
          expect(calls).toEqual(['pause', 'resume']);
          body.push(bytes('last'));
          body.end(null);
        });
      }
    }
    expect(sizes).toEqual([5, 70_000, 70_000, 4]);
    expect(calls).toEqual(['pause', 'resume']);
  });

  it('that is read whole waits for its end, and is not paused', async () => {
    const { body, calls } = bodyOf();
    const whole = body.whole(200_000);
    for (const chunk of [bytes('first'), large, large]) body.push(chunk);
    body.end(null);
    expect(await whole).toHaveLength(140_005);
    expect(calls).toEqual([]);
  });

  it('that exceeds the limit closes its connection, complete or not', async () => {
    for (const isEnded of [false, true]) {
      const { body, calls } = bodyOf();
      body.push(bytes('12345'));
      if (isEnded) body.end(null);
      await expect(body.whole(4)).rejects.toMatchObject({ kind: 'too_large' });
      expect(calls).toEqual(isEnded ? [] : ['abort: the body was discarded']);
    }
  });

  it('delivers the bytes before a failure, then the failure', async () => {
    const { body } = bodyOf();
    const failure = new Error('broken');
    body.push(bytes('a'));
    body.push(bytes('b'));
    body.end(failure);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const chunk of body) seen.push(new TextDecoder().decode(chunk));
    })();
    await expect(reading).rejects.toBe(failure);
    expect(seen).toEqual(['a', 'b']);
    const { body: other } = bodyOf();
    other.push(bytes('a'));
    other.end(failure);
    await expect(other.whole(10)).rejects.toBe(failure);
  });

  it('that is stopped delivers only the reason, even to a waiting reader', async () => {
    const reason = new Error('stopped');
    const { body } = bodyOf();
    body.push(bytes('a'));
    body.stop(reason);
    await expect(body.whole(10)).rejects.toBe(reason);
    const waiting = bodyOf();
    const whole = waiting.body.whole(10);
    waiting.body.stop(reason);
    await expect(whole).rejects.toBe(reason);
  });

  it('whose reader leaves closes its connection', async () => {
    const { body, calls } = bodyOf();
    body.push(bytes('a'));
    for await (const chunk of body) {
      expect(chunk).toEqual(bytes('a'));
      break;
    }
    expect(calls).toEqual(['abort: the body was discarded']);
  });
});
