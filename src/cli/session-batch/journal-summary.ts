// What a list shows of a batch. If nothing is left of the batch, the end of its journal and its seal say it, without a reading of the ids.
import { fstatSync } from 'node:fs';
import type { BatchAction } from './batch-kind.ts';
import type { BatchSeal } from './journal.ts';
import { actionIn, readSeal, restoredIn } from './journal-lines.ts';
import type { BatchRestored } from './journal-tally.ts';
import { linesOf } from './lines.ts';

export interface BatchSummary {
  readonly seal: BatchSeal;
  readonly action: BatchAction;
  /** Null if the batch was never undone. */
  readonly restored: BatchRestored | null;
  readonly done: number;
  readonly missing: number;
  /** How many ids are still to be done. `doubtful` counts those whose result is unknown. */
  readonly left: number;
  readonly doubtful: number;
}

/** Enough for the lines that follow `complete`: a few of prints, and two for each undo. */
const tailBytes = 4096;

/** Null if ids are left, or if the journal is of an earlier version or damaged. Then all of it must be read. */
export function summaryOfComplete(file: number, batch: string): BatchSummary | null {
  const { size } = fstatSync(file);
  let restored: BatchRestored | null = null;
  for (const line of [...linesOf(file, Math.max(size - tailBytes, 0), size)].toReversed()) {
    restored ??= restoredIn(line);
    const [, offset, done, missing, sessions, at] = completeForm.exec(line) ?? [];
    if (offset !== undefined) {
      const [first = ''] = linesOf(file, Number(offset), size);
      const seal = first.startsWith('\t') ? readSeal(first.slice(1)) : null;
      const counts = { done: Number(done), missing: Number(missing), left: 0, doubtful: 0 };
      if (seal?.batch !== batch || seal.ids !== counts.done + counts.missing) return null;
      if (at !== undefined) restored ??= { sessions: Number(sessions), at };
      return { seal, action: actionIn(seal), restored, ...counts };
    }
    if (!/^(settled|printed \d+|restored \d+ \S+)$/.test(line)) return null;
  }
  return null;
}

const completeForm = /^complete (\d+) (\d+) (\d+)(?: (\d+) (\S+Z))?$/;
