// Reads the bytes of a file that a user named. If it is a pipe, as in `-f <(command)`, or a terminal, the wait for its writer can be stopped.
import { constants, createReadStream, openSync, promises } from 'node:fs';
import { refuseStoreFile } from './store-files.ts';

/** Rejects with the error of the system call, or with the reason of the signal. */
export async function* fileBytes(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  refuseStoreFile(path);
  const mayWait = await promises.stat(path).then(
    (status) => status.isFIFO() || status.isCharacterDevice(),
    // Opening the path reports what is wrong with it.
    () => false,
  );
  yield* mayWait ? await waitingStream(path, signal) : await readingStream(path, signal);
}

/** Some files of the kernel have no bytes until it has news: `/proc/kmsg`. Reading them fails at once instead of blocking a thread. */
async function readingStream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  signal.throwIfAborted();
  const file = await promises.open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  return file.createReadStream({ signal });
}

/**
 * Opening or reading a pipe or a terminal as a file would block a thread until there is input. Nothing could stop that, not even the end of
 * the process.
 */
async function waitingStream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const [{ Socket }, { isatty, ReadStream }, { addAbortSignal }] = await Promise.all([
    import('node:net'),
    import('node:tty'),
    import('node:stream'),
  ]);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  if (isatty(fd)) return addAbortSignal(signal, new ReadStream(fd));
  const isPipe = (await promises.stat(path)).isFIFO();
  if (isPipe) return new Socket({ fd, readable: true, writable: false, signal });
  // Any other device returns its bytes at once, or fails.
  return createReadStream(path, { fd, signal });
}
