// Reads single lines of a journal: the seal, and the line of an undo.
import { type BatchAction, batchKinds } from './batch-kind.ts';
import type { BatchSeal } from './journal.ts';
import type { BatchRestored } from './journal-tally.ts';

/** `text` is the line without its tab. Null for anything but the seal of a version that is known. */
export function readSeal(text: string): BatchSeal | null {
  try {
    const seal: BatchSeal = JSON.parse(text);
    return seal.version === (seal.action === undefined ? 1 : 2) &&
      Object.hasOwn(batchKinds, seal.action?.kind ?? 'delete') &&
      Number.isSafeInteger(seal.ids) &&
      typeof seal.origin === 'string'
      ? seal
      : null;
  } catch {
    return null;
  }
}

export function actionIn({ action }: BatchSeal): BatchAction {
  return action ?? { kind: 'delete', tags: null };
}

/** Null for any other line, also for one that a crash cut within its time: the next process has ended that line. */
export function restoredIn(line: string): BatchRestored | null {
  const [, sessions, at] = /^restored (\d+) (\S+Z)$/.exec(line) ?? [];
  return sessions === undefined || at === undefined ? null : { sessions: Number(sessions), at };
}
