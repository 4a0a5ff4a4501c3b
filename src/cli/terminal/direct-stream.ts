// Writes the first output without a stream of Node. Creating a stream loads the network code of Node, which takes a tenth of the time of a
// short command. Output that does not fit at once, and all output after it, goes to the stream.
import { fstatSync, openSync, writeSync } from 'node:fs';
import type { OutputStream } from './output.ts';

/** A socket takes this many bytes before the stream takes over. Every system buffers far more for a slow reader. */
const socketBytes = 4096;

/** The number that Linux gives `/dev/null`. */
const nullDevice = 0x103;

/**
 * A stream over a descriptor that is a file, `/dev/null`, a pipe or a socket, on Linux. Null for everything else. A pipe is opened a second
 * time, so that it can be non-blocking without a change for the processes that share it. A socket cannot be opened again. Node's own
 * stream writes a file at once, too.
 */
export function directStream(
  descriptor: number,
  platform: string,
  openStream: () => OutputStream,
): OutputStream | null {
  if (platform !== 'linux') return null;
  try {
    const stats = fstatSync(descriptor);
    const unlimited = Number.POSITIVE_INFINITY;
    if (stats.isFIFO()) return new DirectStream(reopen(descriptor), unlimited, openStream);
    const takesAll = stats.isFile() || (stats.isCharacterDevice() && stats.rdev === nullDevice);
    if (takesAll) return new DirectStream(descriptor, unlimited, openStream);
    return stats.isSocket() ? new DirectStream(descriptor, socketBytes, openStream) : null;
  } catch {
    return null; // The descriptor is closed, or there is no /proc. The stream handles both.
  }
}

const writeOnlyNonblocking = 0o4001;

function reopen(descriptor: number): number {
  return openSync(`/proc/self/fd/${descriptor}`, writeOnlyNonblocking);
}

class DirectStream implements OutputStream {
  readonly #descriptor: number;
  readonly #openStream: () => OutputStream;
  readonly #listenerSetups: ((stream: OutputStream) => void)[] = [];
  #room: number;
  #stream: OutputStream | null = null;

  constructor(descriptor: number, room: number, openStream: () => OutputStream) {
    this.#descriptor = descriptor;
    this.#room = room;
    this.#openStream = openStream;
  }

  get writableLength(): number {
    return this.#stream?.writableLength ?? 0;
  }

  /** Only the stream has events. Before the stream exists, all output is written at once. */
  on(event: 'drain' | 'close' | 'error', listener: (error: Error) => void): void {
    this.#listenerSetups.push((stream) => stream.on(event as 'error', listener));
  }

  write(data: string | Uint8Array, written?: (error?: Error | null) => void): boolean {
    if (this.#stream !== null) return this.#stream.write(data, written);
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    const rest = bytes.subarray(this.#writeNow(bytes));
    if (rest.length > 0) return this.#handOver().write(rest, written);
    written?.();
    return true;
  }

  /** Returns how many bytes were written. After a failure the stream meets the same failure and reports it. */
  #writeNow(bytes: Uint8Array): number {
    let written = 0;
    try {
      while (written < bytes.length && this.#room >= bytes.length - written) {
        const count = writeSync(this.#descriptor, bytes, written);
        written += count;
        this.#room -= count;
      }
    } catch {
      // This call has written nothing: the pipe is full, or has no reader.
    }
    return written;
  }

  #handOver(): OutputStream {
    this.#stream = this.#openStream();
    for (const setUp of this.#listenerSetups) setUp(this.#stream);
    return this.#stream;
  }
}
