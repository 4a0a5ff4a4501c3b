// The contract of retention: a policy of a project says after how long without activity its sessions are deleted, and how long after that
// retention erases them. A project without a policy keeps everything.

export interface RetentionPolicy {
  /** Sessions without activity for longer than this (ms) expire, which means that they are deleted. At least 1. */
  readonly after_ms: number;
  /** How many of the newest sessions of the project never expire; null for none. */
  readonly keep_last: number | null;
  /** Sessions that expired longer ago than this (ms) are erased; null if none is. */
  readonly erase_after_ms: number | null;
}

/**
 * Why the next run needs the count of its sessions: it is the first one, the policy became shorter, or so much time has passed since the last
 * trace of any use that the clock may be wrong.
 */
export type ConfirmationReason = 'first_run' | 'shorter' | 'clock';

export interface ProjectRetention extends RetentionPolicy {
  readonly project_id: string;
  readonly project_name: string;
  /** ISO 8601, as all times here. */
  readonly set_at: string;
  /** The begin of the last run; null for none. */
  readonly last_run_at: string | null;
}

/** What a run would do now. */
export interface RetentionPlan extends ProjectRetention {
  readonly expire: number;
  readonly erase: number;
  /** Both together: the count that is confirmed. */
  readonly sessions: number;
  /** Null if the next run needs no count. */
  readonly confirmation: ConfirmationReason | null;
  /** When the next session will expire; null if none will. */
  readonly next_at: string | null;
}

export interface RetentionRunRequest {
  readonly project_id: string;
  /** The confirmed count of sessions, expired and erased ones together; null for none. */
  readonly confirmed: number | null;
  /** The interval (ms) of a server's runs. A run before that time has passed since the last one does nothing. Null for a run at once. */
  readonly every_ms: number | null;
  /** Stops the run between two steps. The next run continues it. */
  readonly signal: AbortSignal;
  /** Called before the first change with the number of sessions, if it is known, and then with each number of further sessions. */
  readonly onStart?: (sessions: number) => void;
  readonly onStep?: (action: 'expired' | 'erased', sessions: number) => void;
}

export interface RetentionReport {
  readonly project_id: string;
  readonly project_name: string;
  /** The name of the batch of what expired; null if no session did. */
  readonly batch: string | null;
  readonly expired: number;
  readonly erased: number;
  /** True if this run has continued one that was stopped. The counts are those of both. */
  readonly continued: boolean;
  /** False if the signal, or a change of the policy, stopped the run. */
  readonly finished: boolean;
}

/** `busy`: another run of the project is under way. `not_due`: the interval has not passed yet. Only `ran` has changed anything. */
export type RetentionEnd =
  | { readonly kind: 'ran'; readonly report: RetentionReport }
  | { readonly kind: 'unconfirmed'; readonly plan: RetentionPlan; readonly reason: ConfirmationReason }
  | { readonly kind: 'other_count'; readonly plan: RetentionPlan }
  | { readonly kind: 'no_policy' | 'busy' | 'not_due' };

/** The sessions that one run has expired. They can be restored together. */
export interface RetentionBatch {
  readonly batch: string;
  readonly project_id: string;
  readonly project_name: string;
  readonly begun_at: string;
  /** Null for a run that was stopped and not continued yet. */
  readonly ended_at: string | null;
  readonly expired: number;
  /** How many were restored together; those that were restored by their ids are not counted. */
  readonly restored: number;
  readonly restored_at: string | null;
}

/** All of them reject with a `ParleyError`. */
export interface Retention {
  /** Rejects with `INVALID_REQUEST` for an unknown project, and for a policy with a number out of range. */
  setPolicy(projectId: string, policy: RetentionPolicy): Promise<ProjectRetention>;
  /** False if there was no policy. */
  removePolicy(projectId: string): Promise<boolean>;
  policies(): Promise<readonly ProjectRetention[]>;
  /** Null for a project without a policy. */
  plan(projectId: string): Promise<RetentionPlan | null>;
  run(request: RetentionRunRequest): Promise<RetentionEnd>;
  /** The newest first. Runs that expired nothing are left out. */
  batches(): Promise<readonly RetentionBatch[]>;
  /**
   * Restores all sessions of a batch that are still deleted and not erased. Returns how many. To retention, a restored session was active at
   * the time of its restoration. Rejects with `INVALID_REQUEST` for an unknown batch.
   */
  restoreBatch(
    batch: string,
    options: { readonly signal: AbortSignal; readonly onStep?: (sessions: number) => void },
  ): Promise<number>;
}
