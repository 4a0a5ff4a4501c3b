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
  const { pipeline } = await import('node:stream');
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
    // A failure in the pipeline rejects the loop that reads its last stream.
    for await (const chunk of pipeline(bytes, create(), () => {})) {
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
