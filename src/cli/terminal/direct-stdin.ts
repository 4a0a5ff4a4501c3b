// Reads the bytes that a pipe on standard input already contains without a stream of Node. Creating that stream loads the network code of
// Node, which takes a fifth of the time of a short command. The stream reads all later bytes, and every stdin that is not a pipe.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Readable } from 'node:stream';

/** Bytes as they arrive. After `destroy` no more are read. */
export interface ByteSource extends AsyncIterable<Uint8Array> {
  destroy(): void;
}

/** As many bytes as a pipe of Linux holds. */
const chunkBytes = 64 * 1024;
const readOnlyNonblocking = 0o4000;

/**
 * A pipe is opened a second time, so that it can be non-blocking without a change for the processes that share it. Only Linux can do that.
 * Throws for a directory, which the stream of Node would treat as empty.
 */
export function directStdin(descriptor: number, platform: string, openStream: () => Readable): ByteSource {
  if (isDirectory(descriptor)) throw new Error('it is a directory');
  const reopened = platform === 'linux' ? reopenPipe(descriptor) : null;
  return reopened === null ? openStream() : new DirectStdin(reopened, openStream);
}

function isDirectory(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isDirectory();
  } catch {
    return false;
  }
}

/** Null if the descriptor is not a pipe, or is a pipe of another user. */
function reopenPipe(descriptor: number): number | null {
  try {
    if (!fstatSync(descriptor).isFIFO()) return null;
    return openSync(`/proc/self/fd/${descriptor}`, readOnlyNonblocking);
  } catch {
    return null;
  }
}

class DirectStdin implements ByteSource {
  readonly #openStream: () => Readable;
  #descriptor: number | null;
  #stream: Readable | null = null;

  constructor(descriptor: number, openStream: () => Readable) {
    this.#descriptor = descriptor;
    this.#openStream = openStream;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      while (this.#descriptor !== null) {
        const bytes = readNow(this.#descriptor);
        if (bytes === null) break;
        if (bytes.length === 0) return;
        yield bytes;
      }
      if (this.#descriptor === null) return;
    } finally {
      this.#close();
    }
    this.#stream = this.#openStream();
    yield* this.#stream;
  }

  destroy(): void {
    this.#close();
    this.#stream?.destroy();
  }

  #close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}

/** Empty at the end. Null if nothing has arrived yet. Null also after a failure, which the stream then meets and reports. */
function readNow(descriptor: number): Uint8Array | null {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  try {
    return buffer.subarray(0, readSync(descriptor, buffer));
  } catch {
    return null;
  }
}
