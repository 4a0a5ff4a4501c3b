// The interface of a store's retention. A caller decides which sessions expire and when (local/retention-rules.ts); a store changes them in
// steps, each of which is one short transaction. Times are epoch milliseconds. As in session-store.ts, the store's own clock measures
// leases.
import type { RetentionPolicy } from '../service/project-retention.ts';
import type { AuditNote, AuditOrigin } from './audit-log.ts';

export interface PolicyRow {
  readonly project_id: string;
  readonly project_name: string;
  readonly policy: RetentionPolicy;
  /** The policy of the last run; null before the first. */
  readonly confirmed: RetentionPolicy | null;
  readonly set_at: number;
  readonly last_run_at: number | null;
}

/** A policy as a store keeps it. */
export type StoredPolicy = Omit<PolicyRow, 'policy' | 'confirmed'> & {
  readonly policy: string;
  readonly confirmed: string | null;
};

export function toPolicyRow({ policy, confirmed, ...row }: StoredPolicy): PolicyRow {
  return {
    ...row,
    policy: JSON.parse(policy),
    confirmed: confirmed === null ? null : JSON.parse(confirmed),
  };
}

/** Equal policies have equal texts. */
export function policyText({ after_ms, keep_last, erase_after_ms }: RetentionPolicy): string {
  return JSON.stringify({ after_ms, keep_last, erase_after_ms });
}

/** A change of a policy, for the audit log. */
export function policyNote(
  by: AuditOrigin,
  what: 'retention_set' | 'retention_off',
  project_id: string,
): AuditNote {
  return { ...by, what, project_id, count: 1, ids: [] };
}

/** A position in the order of activity, between two sessions. Sessions with equal times are ordered by their ids. */
export interface ActivityCursor {
  readonly time: number;
  readonly sessionId: string;
}

/**
 * The active sessions that expire: not pinned, without a running turn, last active before `end`, and restored, if ever, before
 * `restoredBefore`.
 */
export interface ExpiryFilter {
  readonly end: ActivityCursor;
  readonly restoredBefore: number;
}

/** How far a run is in the order of activity: first the sessions that a list shows, then the archived ones. */
export interface ExpiryCursor {
  readonly archived: boolean;
  readonly after: ActivityCursor;
}

export const beforeAll: ActivityCursor = { time: Number.MIN_SAFE_INTEGER, sessionId: '' };
/** Where a run begins. */
export const firstCursor: ExpiryCursor = { archived: false, after: beforeAll };

/** Where a run continues. `after`: the last session of a step; null if the step found no more. Null after the last archived session. */
export function nextCursor(archived: boolean, after: ActivityCursor | null): ExpiryCursor | null {
  if (after !== null) return { archived, after };
  return archived ? null : { archived: true, after: beforeAll };
}

/** Ids are ASCII, so JavaScript compares them byte by byte, too. */
export function isBefore(one: ActivityCursor, other: ActivityCursor): boolean {
  return one.time < other.time || (one.time === other.time && one.sessionId < other.sessionId);
}

/** The cursor before the newest `count` of these sessions; null if there are not more. */
export function beforeNewest(sessions: readonly ActivityCursor[], count: number): ActivityCursor | null {
  if (sessions.length <= count) return null;
  return sessions.toSorted((one, other) => (isBefore(one, other) ? 1 : -1))[count - 1] ?? null;
}

export interface RunRow {
  /** The store's own number of the run. */
  readonly id: number;
  readonly batch: string;
  readonly project_id: string;
  readonly project_name: string;
  readonly begun_at: number;
  readonly ended_at: number | null;
  readonly expired: number;
  readonly erased: number;
  readonly restored: number;
  readonly restored_at: number | null;
}

export interface RunStart {
  /** The name of the run, if it is a new one. */
  readonly batch: string;
  /** The policy that the caller has judged. */
  readonly policy: RetentionPolicy;
  /** The holder of the project's lease, and its length in ms. */
  readonly holder: string;
  readonly leaseMs: number;
  /** A holder whose process certainly no longer runs, so that its lease does not count; null for none. */
  readonly deadHolder: string | null;
  readonly now: number;
  /** The run begins only if the last one began at or before this time, or after `dueAfter`. */
  readonly dueUntil: number;
  readonly dueAfter: number;
}

/** `changed`: the policy is another one by now, or there is none. */
export type RunBegin =
  | { readonly kind: 'begun'; readonly run: RunRow; readonly continued: boolean }
  | { readonly kind: 'busy'; readonly holder: string }
  | { readonly kind: 'not_due' | 'changed' };

/** What is stored of the retention of a project when a run is to begin. */
export interface RetentionState {
  /** As {@link policyText} writes it. */
  readonly policy: string;
  readonly last_run_at: number | null;
  /** The holder of the lease; null for none. */
  readonly runner: string | null;
  /** True while the lease of the runner is not over. */
  readonly is_held: boolean;
}

/** Why no run begins; null if one begins. `state` is undefined without a policy. */
export function refuseRun(
  state: RetentionState | undefined,
  { policy, deadHolder, dueUntil, dueAfter }: RunStart,
): Exclude<RunBegin, { kind: 'begun' }> | null {
  if (state === undefined || state.policy !== policyText(policy)) return { kind: 'changed' };
  const { runner, is_held, last_run_at: last } = state;
  if (runner !== null && runner !== deadHolder && is_held) return { kind: 'busy', holder: runner };
  return last !== null && last > dueUntil && last <= dueAfter ? { kind: 'not_due' } : null;
}

/** A run that holds the lease of its project. */
export interface LeasedRun {
  readonly projectId: string;
  readonly run: number;
  readonly holder: string;
  readonly leaseMs: number;
  /** Names the run in the audit log, which records each step. Its time is that of the run, at which the sessions are deleted. */
  readonly by: AuditOrigin;
}

/** Null for a step that did nothing, because the lease or the policy is gone. `next` is null after the last step. */
export type RunStep<Place> = { readonly sessions: number; readonly next: Place | null } | null;

export interface RetentionStore {
  /** The time of the store's clock, epoch milliseconds. The clock of a server may differ from it. */
  now(): Promise<number>;
  /** In the order of the projects' ids. */
  policies(): Promise<readonly PolicyRow[]>;
  /** Replaces the policy and ends a stopped run. `by.time` is the time of the change. False for an unknown project. */
  setPolicy(projectId: string, policy: RetentionPolicy, by: AuditOrigin): Promise<boolean>;
  /** Ends a stopped run, too. False if there was no policy. */
  removePolicy(projectId: string, by: AuditOrigin): Promise<boolean>;

  /** The cursor before the newest `count` active sessions; null if there are not more. */
  cursorBefore(projectId: string, count: number): Promise<ActivityCursor | null>;
  countExpiring(projectId: string, filter: ExpiryFilter): Promise<number>;
  /** The sessions that retention has deleted before this time. Those with a running turn are not counted. */
  countErasable(projectId: string, deletedBefore: number): Promise<number>;
  /** The earliest activity at or after a time, of a session that is not pinned and that a list shows; null for none. */
  activityFrom(projectId: string, time: number): Promise<number | null>;
  /** The last activity after one time and up to another, of a session that a list shows; null for none. */
  lastActivity(projectId: string, after: number, until: number): Promise<number | null>;

  /** Takes the lease, notes the policy as confirmed and the time as that of the last run, and begins a run or continues the stopped one. */
  begin(projectId: string, start: RunStart): Promise<RunBegin>;
  /** Deletes some of the sessions that the filter selects, from a cursor on; null for the first step. */
  expire(leased: LeasedRun, filter: ExpiryFilter, from: ExpiryCursor | null): Promise<RunStep<ExpiryCursor>>;
  /**
   * Erases the sessions that {@link countErasable} counts, in steps. `onStep` gets the number of sessions of a step, and returns false to
   * stop. Resolves to false if not all were erased. `keptSince` is as in `PurgeOptions`.
   */
  erase(
    leased: LeasedRun,
    deletedBefore: number,
    keptSince: number,
    onStep: (sessions: number) => boolean,
  ): Promise<boolean>;
  /** Ends the run at a time, and releases the lease. A run that did nothing is removed. */
  end(leased: LeasedRun, now: number): Promise<RunRow | null>;
  /** Releases the lease. The run stays unfinished. */
  release(leased: LeasedRun): Promise<void>;

  /** The newest first. */
  runs(): Promise<readonly RunRow[]>;
  countRestorable(run: number): Promise<number>;
  /** Restores some of its sessions, and records them in the audit log. Returns how many; 0 at the end. */
  restoreStep(run: RunRow, by: AuditOrigin): Promise<number>;
}
