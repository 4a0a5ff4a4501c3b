// Files and directories for the user alone, from the moment they are made and whatever the umask is.
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { ParleyError } from '../service/errors.ts';

export function makePrivateDirectory(path: string): void {
  const made = mkdirSync(path, { recursive: true, mode: 0o700 });
  // The umask may have taken from the mode what the owner needs.
  if (made !== undefined) chmodSync(path, 0o700);
}

/** Whoever reads the file sees the old text or the new, whole. When it fails, the old text stands. */
export function replacePrivateFile(path: string, text: string): void {
  const temporary = `${path}.${Math.random().toString(36).slice(2)}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

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
