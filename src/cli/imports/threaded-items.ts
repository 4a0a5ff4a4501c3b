// Reads a large export in its own thread, so that parsing and storing run at the same time.
import { on } from 'node:events';
import { ParleyError, reasonOf } from '../../service/errors.ts';
import { isProgramAvailable, startThread } from '../../system/program-thread.ts';
import { bulkSources } from './bulk-sources.ts';
import type { ImportItem } from './import-item.ts';
import type { ReaderMessage, ReadingTask, TransferredFailure, TransferredItem } from './reading-thread.ts';
import type { FilePlace, Source, SourceFile } from './source.ts';

/** In the build, the file is beside the chunk that contains this code. */
const defaultThread = new URL('./reading-thread.cjs', import.meta.url);
/** A smaller file is read faster than a thread starts. */
const minBytes = 8 * 1024 * 1024;
/** The size of the thread's young generation, in MiB. With V8's default an import takes over 200 MiB. */
const youngMegabytes = 8;

/** Where the thread finds the file; null for a file that the main thread reads. */
export function placeForThread(source: Source, { bytes, place }: SourceFile): FilePlace | null {
  return bytes >= minBytes && bulkSources.includes(source) && isProgramAvailable(defaultThread)
    ? place
    : null;
}

/** The items of a file, as in `foreignItems`. */
export async function* threadedItems(
  task: ReadingTask,
  signal: AbortSignal,
  file: URL = defaultThread,
): AsyncGenerator<ImportItem, void> {
  const thread = startThread(file, {
    workerData: task,
    resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
  });
  thread.ref();
  // A failure after the last message has no other listener, and would end this process.
  thread.on('error', () => {});
  try {
    for await (const [received] of on(thread, 'message', { signal, close: ['exit'] })) {
      signal.throwIfAborted();
      const message: ReaderMessage = received;
      if (message.kind === 'end') return;
      if (message.kind === 'failed') throw errorOf(message.failure);
      for (const item of message.items) yield itemOf(item);
      thread.postMessage(null);
    }
    throw new Error('it stopped early');
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ParleyError ? error : threadFailure(task, reasonOf(error));
  } finally {
    await thread.terminate();
  }
}

function itemOf({ found, ...at }: TransferredItem): ImportItem {
  return { ...at, found: 'failure' in found ? { failure: errorOf(found.failure) } : found };
}

function errorOf({ code, message, ...facts }: TransferredFailure): ParleyError {
  return new ParleyError(code, message, facts);
}

function threadFailure({ place }: ReadingTask, reason: string): ParleyError {
  return new ParleyError('INTERNAL_ERROR', `The thread that reads ${place.path} failed: ${reason}.`, {
    hint: 'Imported sessions are kept.',
  });
}
