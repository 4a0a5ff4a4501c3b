// Classifies the errors of system calls on files.

/** The `code` of an error, such as `ENOENT` of a system call or `SQLITE_BUSY` of SQLite; empty for an error without one. */
export function systemErrorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** True if the disk or the quota of this user is full. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(systemErrorCode(error));
}

/** True if this process or the machine has reached its limit of open files. Some errors have the code only in the message. */
export function isOutOfFiles(error: unknown): boolean {
  return error instanceof Error && /\b(EMFILE|ENFILE)\b/.test(error.message);
}

/** The hint for {@link isOutOfFiles}. */
export const outOfFilesHint =
  'Too many files and connections are open. Try again in a moment; if this persists, raise the limit of open files (ulimit -n).';

/** True if the name in an error of Node is that of a system call on files. */
export function isFileCall(syscall: string): boolean {
  return fileCalls.has(syscall);
}

/** System calls on sockets and processes are not in this list. */
const fileCalls: ReadonlySet<string> = new Set(
  (
    'access chmod close copyfile fchmod fdatasync fstat fsync ftruncate futime link lstat mkdir mkdtemp open opendir ' +
    'readlink realpath rename rm rmdir scandir stat statfs symlink unlink utime'
  ).split(' '),
);

/** The error for a file over a size limit, in the form of an error of a system call. `code` names the limit. A device has no size. */
export class TooLargeFile extends Error {
  override readonly name = 'TooLargeFile';
  readonly syscall = 'read';
  readonly code: string;

  constructor(maxBytes: number, size: number | null) {
    const code = `more than ${maxBytes} bytes${size === null ? '' : `: ${size}`}`;
    super(`It has ${code}.`);
    this.code = code;
  }
}

/** The error for a pipe or a device in place of a file, in the form of an error of a system call. */
export class IrregularFile extends Error {
  override readonly name = 'IrregularFile';
  readonly syscall = 'read';
  readonly code = 'not a regular file';
}
