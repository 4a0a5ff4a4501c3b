// Reads a file of Parley's own, which is small. A file that is far larger is not Parley's work, and would fill the memory.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { TooLargeFile } from './file-errors.ts';

/** Throws the error of the system call. For a longer file it throws an error of the same form, whose `code` tells the limit. */
export function readSmallFile(path: string, mostBytes: number): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size > mostBytes) throw new TooLargeFile(mostBytes, size);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
