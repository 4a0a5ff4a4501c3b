// Reads a small file that Parley has written. A far larger file was not written by Parley, and would fill the memory.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { TooLargeFile } from './file-errors.ts';

/** Throws the error of the system call, or a `TooLargeFile`. */
export function readSmallFile(path: string, maxBytes: number): string {
  return readSmallBytes(path, maxBytes).toString();
}

/** Throws the error of the system call, or a `TooLargeFile`. */
export function readSmallBytes(path: string, maxBytes: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size > maxBytes) throw new TooLargeFile(maxBytes, size);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}
