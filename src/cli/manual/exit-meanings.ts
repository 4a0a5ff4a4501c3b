// The meaning of each exit status in words, for help and the manual page.
import { type ErrorCode, errorKind } from '../../service/errors.ts';
import { exitStatusOf, type exitStatusOfKind } from '../exit-codes.ts';
import type { InterruptionStatus } from '../interruption.ts';

type ExitStatus = 0 | 3 | (typeof exitStatusOfKind)[keyof typeof exitStatusOfKind] | InterruptionStatus;

const exitMeanings = {
  0: 'done (a closed pipe is no error)',
  1: 'failed',
  2: 'wrong usage, input or configuration: nothing was done',
  3: 'several items, some of them failed',
  4: 'no key, or the key was refused',
  5: 'session not found',
  6: 'no answer, try again',
  7: 'the store: busy, full, damaged, missing, from a newer or an older version, or in an unsafe place',
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
