// What a failed system call on one of the user's own files means.
import { ParleyError } from '../service/errors.ts';

/** What a failed system call on a file means for the user; any other error as it is. */
export function fileFailure(
  error: unknown,
  name: string,
  action: 'read' | 'written',
  remedy: string,
): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code)) return storageFull(name, error);
  return new ParleyError('CONFIG', `${name} cannot be ${action} (${code}).`, { hint: remedy, cause: error });
}

export function storageFull(name: string, cause?: unknown): ParleyError {
  return new ParleyError('STORAGE_FULL', `There is no room to write ${name}: it is as it was.`, {
    hint: 'Free some space there and try again.',
    cause,
  });
}
