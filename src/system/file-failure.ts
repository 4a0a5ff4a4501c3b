// Creates the failure that a user sees when a system call on a file fails.
import { ParleyError } from '../service/errors.ts';
import {
  isDiskFull,
  isFileCall,
  isOutOfFiles,
  outOfFilesHint,
  systemErrorCode,
  TooLargeFile,
} from './file-errors.ts';

const shorten = 'Shorten the file, or replace it.';

/**
 * The failure of a system call on a file. Any other error is returned unchanged. `code` is not `CONFIG` if the command has done something
 * already: the exit status of `CONFIG` says that nothing was done.
 */
export function fileFailure(
  error: unknown,
  name: string,
  action: 'read' | 'written',
  remedy: string,
  code: 'CONFIG' | 'STORE_UNSAFE' = 'CONFIG',
): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  if (isDiskFull(error)) return storageFull(name, error);
  if (isOutOfFiles(error)) return outOfFiles(name, error);
  const hint = error instanceof TooLargeFile ? shorten : remedy;
  const message = `${name} cannot be ${action} (${systemErrorCode(error)}).`;
  return new ParleyError(code, message, { hint, cause: error });
}

/** The failure of a system call on a file that no caller has handled. Null for any other error. */
export function unforeseenFileFailure(error: unknown): ParleyError | null {
  const { code = '', syscall = '', path } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || !isFileCall(syscall)) return null;
  const name = path ?? 'A file';
  if (isDiskFull(error)) {
    return new ParleyError('STORAGE_FULL', `There is no room to write ${name} (${syscall}: ${code}).`, {
      hint: 'Everything reported as done is kept. Free some space there and try again.',
      cause: error,
    });
  }
  if (isOutOfFiles(error)) return outOfFiles(name, error);
  return new ParleyError('CONFIG', `${name} cannot be read or written (${syscall}: ${code}).`, {
    hint: 'Everything reported as done is kept. Check the disk and the permissions of the file.',
    cause: error,
  });
}

function outOfFiles(name: string, cause: unknown): ParleyError {
  const message = `${name} cannot be opened: no more files may be opened.`;
  return new ParleyError('CONFIG', message, { hint: outOfFilesHint, cause });
}

export function storageFull(name: string, cause?: unknown): ParleyError {
  return new ParleyError('STORAGE_FULL', `There is no room to write ${name}. It was not changed.`, {
    hint: 'Free some space there and try again.',
    cause,
  });
}
