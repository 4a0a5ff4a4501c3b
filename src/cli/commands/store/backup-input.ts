// Reads the backup that a command names: a file, or standard input.
import { ParleyError } from '../../../service/errors.ts';
import { fileBytes } from '../../../system/file-bytes.ts';
import type { CliContext } from '../../context.ts';
import { unreadableFile } from '../../terminal/file-message.ts';
import { stdinBytes } from '../../terminal/stdin.ts';

export const backupArgument = 'the backup, or - for stdin';

/** The bytes of the backup, and its name for errors. `path` is `-` for standard input. */
export function backupInput(
  path: string,
  context: CliContext,
): { readonly place: string; readonly chunks: AsyncIterable<Uint8Array> } {
  if (path === '-')
    return {
      place: 'standard input',
      chunks: refuseStoreCopy(
        stdinBytes(context.reading('a backup', 'a file may be named instead')),
        'Standard input',
      ),
    };
  return { place: path, chunks: refuseStoreCopy(bytesOf(path, context.signal), path) };
}

/** The first bytes of a database of SQLite (https://sqlite.org/fileformat.html). */
const beginningOfStore = Buffer.from('SQLite format 3\0');

/** Throws `USAGE` for a copy of a whole store, as a new version of Parley or `store restore --replace` leaves it beside the store. */
async function* refuseStoreCopy(
  chunks: AsyncIterable<Uint8Array>,
  place: string,
): AsyncGenerator<Uint8Array, void> {
  let isFirst = true;
  for await (const chunk of chunks) {
    if (isFirst && beginningOfStore.equals(chunk.subarray(0, beginningOfStore.length))) {
      throw new ParleyError('USAGE', `${place} is a SQLite store, not a backup of parley store backup.`, {
        hint: 'Nothing was changed. To use it, stop every Parley, move parley.db, parley.db-wal and parley.db-shm away, and rename this file to parley.db.',
      });
    }
    isFirst = false;
    yield chunk;
  }
}

async function* bytesOf(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  try {
    yield* fileBytes(path, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ParleyError) throw error;
    throw unreadableFile(path, error, 'Name a file that parley store backup wrote, or - for stdin.');
  }
}
