// Decompresses a response body. Parley does not request compression, but some servers compress nevertheless.
import type { Transform } from 'node:stream';
import { codeOf, HttpFailure, tooLarge } from './http-failure.ts';

/** `maxBytes` limits the decompressed bytes. */
export async function* decompress(
  bytes: AsyncIterable<Uint8Array>,
  encoding: string | null,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const name = (encoding ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') {
    yield* bytes;
    return;
  }
  const { createBrotliDecompress, createGunzip, createInflate } = await import('node:zlib');
  const decoders = new Map<string, () => Transform>([
    ['gzip', createGunzip],
    ['x-gzip', createGunzip],
    ['deflate', createInflate],
    ['br', createBrotliDecompress],
  ]);
  const create = decoders.get(name);
  if (create === undefined)
    throw new HttpFailure(
      'unreadable',
      `the response has the content encoding ${name}, which Parley does not support`,
    );
  try {
    let size = 0;
    for await (const chunk of decoded(bytes, create())) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === 'Z_BUF_ERROR')
      throw new HttpFailure('broken', 'the compressed response was cut off', { cause: error });
    if (!/^(Z_|ERR__ERROR)/.test(code)) throw error;
    throw new HttpFailure('unreadable', `the response is not ${name}, although its header says so`, {
      cause: error,
    });
  }
}

/** The decoder loses the text of the slice that it cannot decode. */
const sliceBytes = 1024;

/** Yields all chunks before a failure. A pipeline of Node drops those that are not read yet. */
async function* decoded(bytes: AsyncIterable<Uint8Array>, decoder: Transform): AsyncGenerator<Buffer> {
  let failure: unknown = null;
  let wake = () => {};
  decoder.on('readable', () => wake());
  // A decoder that fails does not call back.
  decoder.on('error', (error) => {
    failure = error;
    wake();
  });
  async function* outputOf(start: (done: () => void) => void): AsyncGenerator<Buffer> {
    let isDone = false;
    start(() => {
      isDone = true;
      wake();
    });
    for (;;) {
      const chunk: Buffer | null = decoder.read();
      if (chunk !== null) yield chunk;
      else if (failure !== null) throw failure;
      else if (isDone) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  try {
    for await (const chunk of bytes) {
      for (let at = 0; at < chunk.byteLength; at += sliceBytes)
        yield* outputOf((done) => decoder.write(chunk.subarray(at, at + sliceBytes), done));
    }
    yield* outputOf((done) => decoder.once('close', done).end());
  } finally {
    decoder.destroy();
  }
}
