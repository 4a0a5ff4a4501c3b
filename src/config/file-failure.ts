// What a failed system call on one of the user's own files means.
import { ParleyError } from '../service/errors.ts';
import { isDiskFull, isFileCall } from '../system/file-errors.ts';

/** What a failed system call on a file means for the user; any other error as it is. */
export function fileFailure(
  error: unknown,
  name: string,
  action: 'read' | 'written',
  remedy: string,
): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (isDiskFull(error)) return storageFull(name, error);
  return new ParleyError('CONFIG', `${name} cannot be ${action} (${code}).`, { hint: remedy, cause: error });
}

/** The last resort for a failed call on a file that no caller has put into words; null for any other error. */
export function unforeseenFileFailure(error: unknown): ParleyError | null {
  const { code = '', syscall = '', path } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || !isFileCall(syscall)) return null;
  const name = path ?? 'A file';
  if (isDiskFull(error)) {
    return new ParleyError('STORAGE_FULL', `There is no room to write ${name} (${syscall}: ${code}).`, {
      hint: 'What was told as done stays done. Free some space there and try again.',
      cause: error,
    });
  }
  return new ParleyError('CONFIG', `${name} cannot be read or written (${syscall}: ${code}).`, {
    hint: 'What was told as done stays done. Check the disk, and who may use the file.',
    cause: error,
  });
}

export function storageFull(name: string, cause?: unknown): ParleyError {
  return new ParleyError('STORAGE_FULL', `There is no room to write ${name}: it is as it was.`, {
    hint: 'Free some space there and try again.',
    cause,
  });
}
