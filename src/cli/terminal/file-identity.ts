// Which file something is, whatever its name: the same for an open descriptor and for a path to it.
import { type BigIntStats, fstatSync } from 'node:fs';

/** Null for what is no regular file, or closed. */
export function fileIdentity(fd: number): string | null {
  try {
    return identityOf(fstatSync(fd, { bigint: true }));
  } catch {
    return null;
  }
}

export function identityOf(status: BigIntStats): string | null {
  return status.isFile() ? `${status.dev}-${status.ino}` : null;
}
