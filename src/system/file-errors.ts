// The meaning of errors of system calls on files.

/** True if a disk is full, or this user's share of it. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * True if this process, or the whole machine, may open no more files. Some errors, as of a new thread, have the code in the message
 * alone.
 */
export function isOutOfFiles(error: unknown): boolean {
  return error instanceof Error && /\b(EMFILE|ENFILE)\b/.test(error.message);
}

/** The hint for {@link isOutOfFiles}. */
export const outOfFilesHint =
  'Too many files and connections are open. Try again in a moment; if it stays so, raise the limit of open files (ulimit -n).';

/** True for the name of a system call on files, as Node's errors have it. */
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

/** The failure of a file that is not read because of its size, in the form of a system call's. A device has no size. */
export class TooLargeFile extends Error {
  override readonly name = 'TooLargeFile';
  readonly syscall = 'read';
  readonly code: string;

  constructor(mostBytes: number, size: number | null) {
    const code = `more than ${mostBytes} bytes${size === null ? '' : `: ${size}`}`;
    super(`It has ${code}.`);
    this.code = code;
  }
}
