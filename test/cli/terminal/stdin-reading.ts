// A stdin of given bytes for tests: in any chunks, and with the text of stderr meanwhile.
import { Readable } from 'node:stream';
import type { StdinReading } from '../../../src/cli/terminal/stdin.ts';
import type { StartTimer } from '../../../src/cli/terminal/timer.ts';
import { ParleyError } from '../../../src/service/errors.ts';
export const never: StartTimer = () => () => {};

export function reading(open: () => Readable, startTimer = never, signal = new AbortController().signal) {
  const notices: string[] = [];
  const stderr = {
    async write(text: string) {
      notices.push(text);
    },
  };
  return {
    open,
    awaited: 'a message',
    skipHint: '-n skips it',
    stderr,
    startTimer,
    signal,
    notices: notices,
  } satisfies StdinReading & {
    notices: string[];
  };
}

export function ofBytes(...pieces: readonly Uint8Array[]) {
  return reading(() => Readable.from(pieces, { objectMode: true }));
}

export function ofText(text: string) {
  return ofBytes(Buffer.from(text));
}

export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1], end));
}

export async function failure(promise: Promise<unknown>): Promise<ParleyError> {
  const error = await promise.catch((reason: unknown) => reason);
  if (error instanceof ParleyError) return error;
  throw new Error('it did not fail with a ParleyError', { cause: error });
}
