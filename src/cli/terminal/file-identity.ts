// Identifies a file independently of its name. An open descriptor and a path to the same file have the same identity.
import { type BigIntStats, fstatSync } from 'node:fs';

/** Returns null for a closed descriptor, and for anything but a regular file. */
export function fileIdentity(fd: number): string | null {
  try {
    return identityOf(fstatSync(fd, { bigint: true }));
  } catch {
    return null;
  }
}

/** False for a closed descriptor. */
export function isCharacterDevice(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice();
  } catch {
    return false;
  }
}

export function identityOf(status: BigIntStats): string | null {
  return status.isFile() ? `${status.dev}-${status.ino}` : null;
}
