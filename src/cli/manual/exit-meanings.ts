// The meaning of each exit status, for help and the manual page.
import { type ErrorCode, errorKind } from '../../service/errors.ts';
import { exitStatusOf, type exitStatusOfKind } from '../exit-codes.ts';
import type { InterruptionStatus } from '../interruption.ts';

type ExitStatus = 0 | 3 | (typeof exitStatusOfKind)[keyof typeof exitStatusOfKind] | InterruptionStatus;

const exitMeanings = {
  0: 'success (a closed pipe is not an error)',
  1: 'failed',
  2: 'wrong usage, input or configuration; nothing was done',
  3: 'some of several items failed',
  4: 'no key, or the key was rejected',
  5: 'session not found',
  6: 'no response; try again',
  7: 'the store is busy, full, damaged, missing, from another version, or in an unsafe place',
  8: 'the reply does not match its schema',
  129: 'hung up',
  130: 'interrupted (Ctrl-C)',
  143: 'terminated',
} as const satisfies Record<ExitStatus, string>;

export interface ExitMeaning {
  readonly status: number;
  readonly meaning: string;
  /** The error codes with this status. */
  readonly codes: readonly string[];
}

export function listExitMeanings(): readonly ExitMeaning[] {
  return Object.entries(exitMeanings).map(([text, meaning]) => {
    const status = Number(text);
    const codes = (Object.keys(errorKind) as ErrorCode[]).filter((code) => exitStatusOf(code) === status);
    return { status, meaning, codes };
  });
}
