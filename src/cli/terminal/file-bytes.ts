// Reads the bytes of a file that a person named. It may be a pipe, as in `-f <(command)`, and then the wait for its writer can be
// stopped.
import { constants, createReadStream, openSync, promises } from 'node:fs';

/** Rejects with the error of the system, or when the signal fires. */
export async function* fileBytes(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const isPipe = await promises.stat(path).then(
    (status) => status.isFIFO(),
    // Opening the path reports what is wrong with it.
    () => false,
  );
  yield* isPipe ? await pipeStream(path, signal) : createReadStream(path, { signal });
}

/**
 * Opening or reading a pipe as a file would block a thread until somebody writes. Nothing stops that, not even the end of the process.
 */
async function pipeStream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const { Socket } = await import('node:net');
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false, signal });
}
