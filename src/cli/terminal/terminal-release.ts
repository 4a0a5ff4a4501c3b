// Closes the standard streams that are terminals before the process ends. At its exit, Node restores the modes of each of these terminals,
// and aborts with a core dump if the terminal has closed (nodejs/node, `ResetStdio`). A core dump of Parley contains API keys.
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';

const nullDevice = '/dev/null';

/**
 * Replaces each standard stream that is a terminal, or was one, by the null device. A terminal that is still open is replaced too, because it
 * may close before Node restores its modes. The streams of Node keep descriptors of their own, and the raw mode ends with them.
 */
export function releaseTerminals(): void {
  for (const descriptor of [0, 1, 2]) {
    try {
      if (!isOtherDevice(descriptor)) continue;
      closeSync(descriptor);
      // The system gives out the lowest free number, which is the one that was just closed.
      openSync(nullDevice, 'r+');
    } catch {
      // The descriptor is closed, and Node ignores a closed one.
    }
  }
}

/** True for a terminal, and for a stream that was one. False for the null device, which is common in scripts. */
function isOtherDevice(descriptor: number): boolean {
  const stats = fstatSync(descriptor);
  return stats.isCharacterDevice() && stats.rdev !== statSync(nullDevice).rdev;
}
