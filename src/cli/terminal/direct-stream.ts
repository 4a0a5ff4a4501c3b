// Standard output without Node's streams, for what is written first: making a stream loads Node's network code, a tenth of a
// short command's time. What does not fit at once, and all after it, goes to the stream.
import { fstatSync, openSync, writeSync } from 'node:fs';
import type { OutputStream } from './output.ts';

/** So much goes into a socket before the stream takes over: far less than any system keeps for a reader that reads later. */
const socketBytes = 4096;

/**
 * On Linux, a stream over a descriptor that is a pipe or a socket; null for everything else. A pipe is opened a second time, so
 * that it may refuse what would block without a change to what other processes share; a socket cannot be.
 */
export function directStream(
  descriptor: number,
  platform: string,
  openStream: () => OutputStream,
): OutputStream | null {
  if (platform !== 'linux') return null;
  try {
    const stats = fstatSync(descriptor);
    if (stats.isFIFO()) return new DirectStream(reopened(descriptor), Number.POSITIVE_INFINITY, openStream);
    return stats.isSocket() ? new DirectStream(descriptor, socketBytes, openStream) : null;
  } catch {
    return null; // a closed descriptor, or no /proc: the stream knows what to do
  }
}

const writeOnlyNonblocking = 0o4001;

function reopened(descriptor: number): number {
  return openSync(`/proc/self/fd/${descriptor}`, writeOnlyNonblocking);
}

class DirectStream implements OutputStream {
  readonly #descriptor: number;
  readonly #openStream: () => OutputStream;
  readonly #listen: ((stream: OutputStream) => void)[] = [];
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

  /** Only the stream has anything to tell: as long as there is none, all that was written has been taken. */
  on(event: 'drain' | 'close' | 'error', listener: (error: Error) => void): void {
    this.#listen.push((stream) => stream.on(event as 'error', listener));
  }

  write(data: string | Uint8Array, written?: (error?: Error | null) => void): boolean {
    if (this.#stream !== null) return this.#stream.write(data, written);
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    const rest = bytes.subarray(this.#writeNow(bytes));
    if (rest.length > 0) return this.#handOver().write(rest, written);
    written?.();
    return true;
  }

  /** How many bytes were taken. A failure is met again, and told, by the stream. */
  #writeNow(bytes: Uint8Array): number {
    let taken = 0;
    try {
      while (taken < bytes.length && this.#room >= bytes.length - taken) {
        const count = writeSync(this.#descriptor, bytes, taken);
        taken += count;
        this.#room -= count;
      }
    } catch {
      // Nothing of this call was taken: the pipe is full, or has no reader.
    }
    return taken;
  }

  #handOver(): OutputStream {
    this.#stream = this.#openStream();
    for (const listen of this.#listen) listen(this.#stream);
    return this.#stream;
  }
}
