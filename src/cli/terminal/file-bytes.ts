// The bytes of a file that a person named. It may be a pipe, as in `-f <(command)`, and then the wait for its writer can be stopped.
import { constants, createReadStream, openSync, promises } from 'node:fs';

/** Rejects as the system does, or once the signal fires. */
export async function* fileBytes(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const isPipe = await promises.stat(path).then(
    (status) => status.isFIFO(),
    // To open it tells what is wrong.
    () => false,
  );
  yield* isPipe ? await pipeStream(path, signal) : createReadStream(path, { signal });
}

/** To open or to read a pipe as a file holds a thread until somebody writes: nothing stops that, not even the end of the process. */
async function pipeStream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const { Socket } = await import('node:net');
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false, signal });
}
