// What the errors of system calls on files mean.

/** A disk, or what of it this user may fill, is full. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Whether a name of a system call, as Node's errors have it, is of one on files. */
export function isFileCall(syscall: string): boolean {
  return fileCalls.has(syscall);
}

/** Those on sockets and processes are not among them. */
const fileCalls: ReadonlySet<string> = new Set(
  (
    'access chmod close copyfile fchmod fdatasync fstat fsync ftruncate futime link lstat mkdir mkdtemp open opendir ' +
    'readlink realpath rename rm rmdir scandir stat statfs symlink unlink utime'
  ).split(' '),
);
