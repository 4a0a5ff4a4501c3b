// The exit statuses. Scripts depend on them, so the table is part of the interface.
import { type ErrorCode, type ErrorKind, errorKind } from '../service/errors.ts';

export const exitDone = 0;
/** Some of several items failed. */
export const exitSomeFailed = 3;

export const exitStatusOfKind = {
  internal: 1,
  input: 2,
  key: 4,
  missing: 5,
  transient: 6,
  store: 7,
  mismatch: 8,
} as const satisfies Record<ErrorKind, number>;

export function exitStatusOf(code: ErrorCode): number {
  return exitStatusOfKind[errorKind[code]];
}
