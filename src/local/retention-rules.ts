// The rules of retention: which sessions expire, when a run is due, and when it needs a confirmed count. These functions know no store.
import type { ParleyError } from '../service/errors.ts';
import type { ConfirmationReason, RetentionPolicy } from '../service/project-retention.ts';
import type { ActivityCursor, ExpiryFilter, PolicyRow } from '../store/session-store.ts';
import { wrongField } from './wrong-field.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** The limits of a policy. Ages shorter than a minute are most likely a mistake. */
const minMs = 60_000;
const maxMs = 1000 * 366 * dayMs;
const maxKept = 1_000_000;

/**
 * The time of day is trusted if the longest time (ms) without a run or an activity is at most this, or at most twice the interval of the runs.
 * A clock that jumps ahead leaves a longer gap, whatever is written afterwards.
 */
const defaultGapMs = 14 * dayMs;

export function maxGapMs(everyMs: number | null): number {
  return Math.max(defaultGapMs, 2 * (everyMs ?? 0));
}

/** The sessions that expire at a time. `keptFrom`: the place before the newest sessions, which stay; null if no session is older. */
export function expiryFilter(
  policy: RetentionPolicy,
  now: number,
  keptFrom: ActivityCursor | null,
): ExpiryFilter {
  const before = now - policy.after_ms;
  const byAge = { time: before, sessionId: '' };
  if (policy.keep_last === null) return { end: byAge, restoredBefore: before };
  const end = keptFrom ?? { time: Number.MIN_SAFE_INTEGER, sessionId: '' };
  return { end: end.time < before ? end : byAge, restoredBefore: before };
}

/** The time before which a session must have expired to be erased; null if none is erased. */
export function erasedBefore({ erase_after_ms }: RetentionPolicy, now: number): number | null {
  return erase_after_ms === null ? null : now - erase_after_ms;
}

/** True if sessions that the old policy keeps may expire, or be erased, by the new one. */
function isShorter(policy: RetentionPolicy, old: RetentionPolicy): boolean {
  const none = Number.POSITIVE_INFINITY;
  return (
    policy.after_ms < old.after_ms ||
    (policy.keep_last ?? 0) < (old.keep_last ?? 0) ||
    (policy.erase_after_ms ?? none) < (old.erase_after_ms ?? none)
  );
}

/** `traceEnd`: the last time up to which runs and activities follow each other without a gap that is too long. */
export function confirmationOf(
  { policy, confirmed, last_run_at }: Pick<PolicyRow, 'policy' | 'confirmed' | 'last_run_at'>,
  { now, traceEnd, gapMs }: { readonly now: number; readonly traceEnd: number; readonly gapMs: number },
): ConfirmationReason | null {
  if (confirmed === null || last_run_at === null) return 'first_run';
  if (isShorter(policy, confirmed)) return 'shorter';
  return now - traceEnd > gapMs ? 'clock' : null;
}

/** A run is due if the last one began at or before `dueUntil`, or so far in the future, after `dueAfter`, that a clock was wrong. */
export function dueTimes(now: number, everyMs: number | null) {
  if (everyMs === null) return { dueUntil: Number.MAX_SAFE_INTEGER, dueAfter: Number.MAX_SAFE_INTEGER };
  return { dueUntil: now - everyMs, dueAfter: now + everyMs };
}

export function checkPolicy({ after_ms, keep_last, erase_after_ms }: RetentionPolicy): void {
  const isAge = (ms: number) => Number.isSafeInteger(ms) && ms >= minMs && ms <= maxMs;
  if (!isAge(after_ms)) throw wrong('after_ms', ageProblem);
  if (erase_after_ms !== null && !isAge(erase_after_ms)) throw wrong('erase_after_ms', ageProblem);
  if (keep_last !== null && !(Number.isSafeInteger(keep_last) && keep_last >= 1 && keep_last <= maxKept))
    throw wrong('keep_last', `must be a whole number from 1 to ${maxKept}`);
}

const ageProblem = 'must be a time from one minute to a thousand years';

function wrong(field: keyof RetentionPolicy, problem: string): ParleyError {
  return wrongField(field, problem, 'The policy was not changed.');
}
