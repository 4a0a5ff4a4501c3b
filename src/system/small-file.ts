// Reads a file of Parley's own, which is small. A file that is far larger is not Parley's work, and would fill the memory.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';

/** Throws the error of the system call. For a longer file it throws an error of the same form, whose `code` tells the limit. */
export function readSmallFile(path: string, mostBytes: number): string {
  const file = openSync(path, 'r');
  try {
    if (fstatSync(file).size > mostBytes) {
      const code = `more than ${mostBytes} bytes`;
      throw Object.assign(new Error(`It has ${code}.`), { code, syscall: 'read' });
    }
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
