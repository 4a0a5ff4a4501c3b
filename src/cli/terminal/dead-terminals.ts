// Standard streams whose terminal has closed, let go before the process ends. Node gives every terminal its first modes back as it
// exits, and aborts with a core dump where the terminal is gone (nodejs/node, `ResetStdio`); a core dump of Parley holds keys.
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';

const nullDevice = '/dev/null';

/** Puts the null device in the place of each standard stream that is a terminal no more. `isTerminal` asks the system, now. */
export function releaseDeadTerminals(isTerminal: (descriptor: number) => boolean): void {
  for (const descriptor of [0, 1, 2]) {
    try {
      if (!isOtherDevice(descriptor) || isTerminal(descriptor)) continue;
      closeSync(descriptor);
      // The system gives out the lowest number that is free: the one that was just closed.
      openSync(nullDevice, 'r+');
    } catch {
      // It is closed, and Node leaves it alone then.
    }
  }
}

/** A terminal, or what was one. The null device needs no look: it is what most streams of scripts are. */
function isOtherDevice(descriptor: number): boolean {
  const stats = fstatSync(descriptor);
  return stats.isCharacterDevice() && stats.rdev !== statSync(nullDevice).rdev;
}
