// Reads a file that a user named, up to a limit. A device may have no end, and a pipe may have no writer.
import { statSync } from 'node:fs';
import { fileBytes } from './file-bytes.ts';
import { TooLargeFile } from './file-errors.ts';

/** Rejects with the error of the system call, with a `TooLargeFile`, or with the reason of the signal. */
export async function readAtMost(path: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  try {
    for await (const chunk of fileBytes(path, signal)) {
      total += chunk.length;
      if (total > maxBytes) throw new TooLargeFile(maxBytes, sizeOf(path));
      chunks.push(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
  return Buffer.concat(chunks);
}

function sizeOf(path: string): number | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.size : null;
}
