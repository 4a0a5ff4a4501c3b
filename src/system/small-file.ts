// Reads a small file that Parley has written. A far larger file was not written by Parley, and would fill the memory.
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { IrregularFile, TooLargeFile } from './file-errors.ts';

/** Throws as {@link readSmallBytes} does. */
export function readSmallFile(path: string, maxBytes: number): string {
  return readSmallBytes(path, maxBytes).toString();
}

/** Throws the error of the system call, a `TooLargeFile`, or an `IrregularFile`: a pipe may have no writer, and a device no end. */
export function readSmallBytes(path: string, maxBytes: number): Buffer {
  // Without the flag, opening a pipe would block the process until there is a writer.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(file);
    const { size } = stat;
    if (!stat.isFile() && !stat.isDirectory()) throw new IrregularFile();
    if (size > maxBytes) throw new TooLargeFile(maxBytes, size);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}
