// Reads a large export in a thread of its own, so that parsing it and storing what it holds run at the same time.
import { ParleyError } from '../../service/errors.ts';
import { isProgramThere, startThread } from '../../system/program-thread.ts';
import { bulkSources } from './bulk-sources.ts';
import type { ImportItem } from './import-item.ts';
import { MessageQueue } from './message-queue.ts';
import type { FromReader, ReadingOrder, SentItem, ToReader } from './reading-thread.ts';
import type { Source, SourceFile } from './source.ts';

/** It lies beside the chunk of the build that contains this code. */
const usualThread = new URL('./reading-thread.cjs', import.meta.url);
/** A smaller file is read sooner than a thread starts. */
const leastBytes = 8 * 1024 * 1024;
/** How many pieces of the file the thread may have that it has not begun to read. */
const mostUnread = 4;
/** For the young objects of the thread, in MiB. With V8's own choice an import takes over 200 MiB. */
const youngMegabytes = 16;

export function isForThread(source: Source, { bytes }: SourceFile): boolean {
  return bytes >= leastBytes && bulkSources.includes(source) && isProgramThere(usualThread);
}

/** The items of a file, as `foreignItems` gives them. */
export async function* threadedItems(
  order: ReadingOrder,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  file: URL = usualThread,
): AsyncGenerator<ImportItem, void> {
  const thread = startThread(file, {
    workerData: order,
    resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
  });
  thread.ref();
  const received = new MessageQueue<FromReader>();
  const stop = () => received.fail(signal.reason);
  const feeder = new Feeder(chunks, (message, bytes) => thread.postMessage(message, bytes ? [bytes] : []));
  thread
    .on('message', (message: FromReader) => received.add(message))
    .on('error', (error) => received.fail(ended(order.path, error.message)))
    .on('exit', () => received.fail(ended(order.path, 'it ended early')));
  signal.addEventListener('abort', stop);
  try {
    for (let count = 0; count < mostUnread; count += 1) feeder.feed();
    for (;;) {
      const message = await received.next();
      if (message.kind === 'taken') feeder.feed();
      else if (message.kind === 'items') {
        for (const item of message.items) yield itemOf(item);
        feeder.send({ kind: 'next' });
      } else if (message.kind === 'end') return;
      else throw message.failure === null ? feeder.failure : errorOf(message.failure);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await thread.terminate();
  }
}

/** Gives the bytes of a file to the thread, piece by piece. */
class Feeder {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly send: (message: ToReader, bytes?: ArrayBuffer) => void;
  #last: Promise<void> = Promise.resolve();
  /** Why the file cannot be read further. */
  failure: unknown = null;

  constructor(chunks: AsyncIterable<Uint8Array>, send: (message: ToReader, bytes?: ArrayBuffer) => void) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.send = send;
  }

  feed(): void {
    this.#last = this.#last.then(() => this.#feedOne());
  }

  async #feedOne(): Promise<void> {
    try {
      const { done, value } = await this.#chunks.next();
      if (done === true) this.send({ kind: 'end' });
      else {
        // The memory goes over to the thread. A piece that shares its memory with others is copied.
        const isWhole = value.length === value.buffer.byteLength;
        const bytes = isWhole ? value : new Uint8Array(value);
        this.send({ kind: 'bytes', bytes }, bytes.buffer as ArrayBuffer);
      }
    } catch (error) {
      this.failure ??= error;
      this.send({ kind: 'broken' });
    }
  }
}

function itemOf({ found, ...at }: SentItem): ImportItem {
  return { ...at, found: 'failure' in found ? { failure: errorOf(found.failure) } : found };
}

function errorOf({
  code,
  message,
  ...facts
}: Pick<ParleyError, 'code' | 'message' | 'hint' | 'remedy' | 'details'>) {
  return new ParleyError(code, message, facts);
}

function ended(path: string, why: string): ParleyError {
  return new ParleyError('INTERNAL_ERROR', `The thread that reads ${path} ended: ${why}.`, {
    hint: 'What was stored stays.',
  });
}
