// Reads the lines of a part of a file in chunks, because there may be a million of them.
import { readSync } from 'node:fs';

const chunkBytes = 64 * 1024;

/** The lines without their line ends. Text after the last line end is ignored. */
export function* linesOf(file: number, from: number, to: number): Generator<string> {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let rest: Buffer = Buffer.alloc(0);
  for (let at = from; at < to; ) {
    const size = readSync(file, chunk, 0, Math.min(chunkBytes, to - at), at);
    if (size === 0) return;
    at += size;
    const bytes =
      rest.length === 0 ? chunk.subarray(0, size) : Buffer.concat([rest, chunk.subarray(0, size)]);
    const end = bytes.lastIndexOf(0x0a);
    if (end !== -1) yield* bytes.toString('utf8', 0, end).split('\n');
    // Copied, because the chunk is reused.
    rest = Buffer.from(bytes.subarray(end + 1));
  }
}
