// Reads the lines of a file from its end, without loading the whole file into memory.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const chunkBytes = 64 * 1024;
const lineFeed = 0x0a;

export interface LinesFromEndOptions {
  /** Only this many bytes at the end of the file are read. */
  readonly maxBytes: number;
  /** A longer line (in bytes) is skipped. */
  readonly maxLineBytes: number;
}

/** Yields the last line first. Throws the error of the system call. */
export function* linesFromEnd(
  path: string,
  { maxBytes, maxLineBytes }: LinesFromEndOptions,
): Generator<string, void> {
  const file = openSync(path, 'r');
  try {
    /** The parts of the line whose beginning is not read yet. */
    let parts: Buffer[] = [];
    let length = 0;
    const add = (part: Buffer) => {
      length += part.length;
      if (length <= maxLineBytes) parts.unshift(part);
      else parts = [];
    };
    const take = () => {
      const line = length <= maxLineBytes ? Buffer.concat(parts).toString('utf8') : null;
      parts = [];
      length = 0;
      return line;
    };
    let position = fstatSync(file).size;
    const begin = Math.max(0, position - maxBytes);
    while (position > begin) {
      const chunk = Buffer.alloc(Math.min(chunkBytes, position - begin));
      position -= chunk.length;
      let end = readSync(file, chunk, 0, chunk.length, position);
      while (end > 0) {
        const at = chunk.lastIndexOf(lineFeed, end - 1);
        add(chunk.subarray(at + 1, end));
        if (at === -1) break;
        const line = take();
        if (line !== null) yield line;
        end = at;
      }
    }
    const first = take();
    if (begin === 0 && first !== null) yield first;
  } finally {
    closeSync(file);
  }
}
