// Identifies a file independently of its name. An open descriptor and a path to the same file have the same identity.
import { type BigIntStats, fstatSync, statSync } from 'node:fs';

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

/** The device number of the first standard stream that is a terminal. Null without one, and on Windows, where terminals have no number. */
export function terminalDevice(): number | null {
  const nullDevice = statSync('/dev/null', { throwIfNoEntry: false })?.rdev ?? 0;
  for (const fd of [0, 1, 2]) {
    if (!isCharacterDevice(fd)) continue;
    const { rdev } = fstatSync(fd);
    if (rdev !== 0 && rdev !== nullDevice) return rdev;
  }
  return null;
}

export function identityOf(status: BigIntStats): string | null {
  return status.isFile() ? `${status.dev}-${status.ino}` : null;
}
