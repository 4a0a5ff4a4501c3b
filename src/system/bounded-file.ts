// Reads a file that a user named, up to a limit. A device may have no end, and a process that waits for it ignores Ctrl-C.
import { closeSync, openSync, readSync } from 'node:fs';

const atOnce = 64 * 1024;

/** Throws the error of the system call. For a longer file it throws an error of the same form, whose `code` names the limit. */
export function readAtMost(path: string, mostBytes: number): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const chunks: Uint8Array[] = [];
    for (let total = 0; ; ) {
      const chunk = Buffer.alloc(atOnce);
      const length = readSync(file, chunk);
      if (length === 0) return Buffer.concat(chunks);
      total += length;
      if (total > mostBytes) throw tooLarge(mostBytes);
      chunks.push(chunk.subarray(0, length));
    }
  } finally {
    closeSync(file);
  }
}

function tooLarge(mostBytes: number): NodeJS.ErrnoException {
  const code = `more than ${mostBytes} bytes`;
  return Object.assign(new Error(`It has ${code}.`), { code, syscall: 'read' });
}
