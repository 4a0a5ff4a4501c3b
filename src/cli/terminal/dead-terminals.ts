// Closes standard streams whose terminal has closed, before the process ends. At its exit Node restores the modes of every terminal,
// and aborts with a core dump if the terminal is gone (nodejs/node, `ResetStdio`). A core dump of Parley contains keys.
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';

const nullDevice = '/dev/null';

/** Replaces each standard stream that is no longer a terminal by the null device. `isTerminal` asks the system now. */
export function releaseDeadTerminals(isTerminal: (descriptor: number) => boolean): void {
  for (const descriptor of [0, 1, 2]) {
    try {
      if (!isOtherDevice(descriptor) || isTerminal(descriptor)) continue;
      closeSync(descriptor);
      // The system gives out the lowest free number, which is the one that was just closed.
      openSync(nullDevice, 'r+');
    } catch {
      // The descriptor is closed, and Node leaves a closed one alone.
    }
  }
}

/** True for a terminal, and for a stream that was one. The null device, which most streams of scripts are, is skipped. */
function isOtherDevice(descriptor: number): boolean {
  const stats = fstatSync(descriptor);
  return stats.isCharacterDevice() && stats.rdev !== statSync(nullDevice).rdev;
}
