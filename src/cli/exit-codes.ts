// What the exit status of the process says. The table is part of the interface: scripts decide by it.
import { type ErrorCode, type ErrorKind, errorKind } from '../service/errors.ts';

export const exitDone = 0;
/** Several items, some of which failed. */
export const exitSomeFailed = 3;

export const exitStatusOfKind = {
  internal: 1,
  input: 2,
  key: 4,
  missing: 5,
  transient: 6,
  store: 7,
} as const satisfies Record<ErrorKind, number>;

export function exitStatusOf(code: ErrorCode): number {
  return exitStatusOfKind[errorKind[code]];
}
