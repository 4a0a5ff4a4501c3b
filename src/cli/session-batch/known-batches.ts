// The batches whose journals are kept on this machine.
import { closeSync, existsSync, openSync, readdirSync } from 'node:fs';
import { ParleyError } from '../../service/errors.ts';
import { systemErrorCode } from '../../system/file-errors.ts';
import { batchDirectory, journalPath } from './journal.ts';
import { fileStatus } from './journal-files.ts';
import { KnownBatch } from './journal-reading.ts';
import { type BatchSummary, summaryOfComplete } from './journal-summary.ts';

const ending = '.journal';

/**
 * The batches, the newest first. Each is read when it is asked for, and without its lock. `unreadable` gets the path of each file that is not the journal of a
 * batch.
 */
export function* knownBatches(
  dataDirectory: string,
  unreadable: (path: string) => void,
): Generator<BatchSummary> {
  // The name of a batch starts with its time.
  for (const batch of batchNames(dataDirectory).toSorted().reverse()) {
    const path = journalPath(dataDirectory, batch);
    const known = read(path, batch);
    if (known === null) unreadable(path);
    else yield known;
  }
}

function batchNames(dataDirectory: string): readonly string[] {
  const directory = batchDirectory(dataDirectory);
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return names.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length));
}

/** Null for a file that is not a complete journal, or was removed meanwhile. */
function read(path: string, batch: string): BatchSummary | null {
  try {
    if (fileStatus(path) === null) return null;
    const file = openSync(path, 'r');
    try {
      return summaryOfComplete(file, batch) ?? new KnownBatch(file, path, batch).summary;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof ParleyError || systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
