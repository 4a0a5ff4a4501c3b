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
      chunks: stdinBytes(context.reading('a backup', 'a file may be named instead')),
    };
  return { place: path, chunks: bytesOf(path, context.signal) };
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
