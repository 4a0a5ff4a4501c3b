// Reads a large export in a thread of its own, so that parsing it and storing what it holds run at the same time.
import { ParleyError } from '../../service/errors.ts';
import { isProgramAvailable, startThread } from '../../system/program-thread.ts';
import { bulkSources } from './bulk-sources.ts';
import type { ImportItem } from './import-item.ts';
import { MessageQueue } from './message-queue.ts';
import type { FromReader, ReadingOrder, SentFailure, SentItem } from './reading-thread.ts';
import type { FilePlace, Source, SourceFile } from './source.ts';

/** It lies beside the chunk of the build that contains this code. */
const usualThread = new URL('./reading-thread.cjs', import.meta.url);
/** A smaller file is read sooner than a thread starts. */
const leastBytes = 8 * 1024 * 1024;
/** For the young objects of the thread, in MiB. With V8's own choice an import takes over 200 MiB. */
const youngMegabytes = 8;

/** Where the thread finds the file; null for a file that is read here. */
export function placeForThread(source: Source, { bytes, place }: SourceFile): FilePlace | null {
  return bytes >= leastBytes && bulkSources.includes(source) && isProgramAvailable(usualThread)
    ? place
    : null;
}

/** The items of a file, as `foreignItems` gives them. */
export async function* threadedItems(
  order: ReadingOrder,
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
  thread
    .on('message', (message: FromReader) => received.add(message))
    .on('error', (error) => received.fail(ended(order, error.message)))
    .on('exit', () => received.fail(ended(order, 'it stopped early')));
  signal.addEventListener('abort', stop);
  try {
    for (;;) {
      const message = await received.next();
      if (message.kind === 'end') return;
      if (message.kind === 'failed') throw errorOf(message.failure);
      for (const item of message.items) yield itemOf(item);
      thread.postMessage(null);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await thread.terminate();
  }
}

function itemOf({ found, ...at }: SentItem): ImportItem {
  return { ...at, found: 'failure' in found ? { failure: errorOf(found.failure) } : found };
}

function errorOf({ code, message, ...facts }: SentFailure): ParleyError {
  return new ParleyError(code, message, facts);
}

function ended({ place }: ReadingOrder, why: string): ParleyError {
  return new ParleyError('INTERNAL_ERROR', `The thread that reads ${place.path} failed: ${why}.`, {
    hint: 'What was stored stays.',
  });
}
