// What a purge erases, what it would erase, and what it reports.
import type { StoreFact } from './store-fact.ts';

/** Which deleted sessions are erased. */
export interface PurgeRequest {
  /** The project whose sessions are erased; null for all projects. */
  readonly project_id: string | null;
  /** ISO 8601. Sessions that were deleted strictly before this time are erased. */
  readonly deleted_before: string;
}

/** A purge whose count was confirmed. */
export interface PurgeExecution extends PurgeRequest {
  readonly expected_sessions: number;
  /** True: the files of the store are rewritten, so that no erased byte is left in them. SQLite always does so and ignores this field. */
  readonly rewrite?: boolean;
  /** Called when this many further sessions are erased. Their bytes are overwritten after the last one. */
  readonly onErased?: (sessions: number) => void;
}

/** What a purge would erase. */
export interface PurgePlan {
  readonly sessions: number;
  readonly messages: number;
  /** The bytes of the messages' texts. */
  readonly text_bytes: number;
  /** The paths of the copies of the store that Parley made in its directory. They hold the same texts, so the purge removes them too. */
  readonly backups: readonly string[];
  /** True if the bytes of what was erased before may still be in the files, because a purge was stopped or retention erased it. */
  readonly unfinished: boolean;
}

/** The effect of a purge, and the state of the store after it. */
export interface PurgeReport extends ErasureReport {
  readonly sessions: number;
  readonly messages: number;
  /** How many stored answers to repeated requests were erased: those about these sessions, and those that are too old to be used. */
  readonly stored_answers: number;
}

/** The state of the store after bytes were erased from it. */
export interface ErasureReport {
  readonly backups_removed: readonly string[];
  /** The bytes of the store before and after. */
  readonly bytes_before: number;
  readonly bytes: number;
  /** Facts that show, in the store's own words, that no erased byte is left, or where erased bytes may be left. */
  readonly facts: readonly StoreFact[];
  /** `ok`, or the result of the store's own check. */
  readonly integrity: string;
}

/** All sessions of a person, active and deleted. */
export interface UserPurgeRequest {
  /** Null for all projects. */
  readonly project_id: string | null;
  readonly user: string;
}

/** What the purge of a person would erase. */
export interface UserPurgePlan extends PurgePlan {
  /** How many of the sessions are deleted already. */
  readonly deleted: number;
  /** The sessions in which a turn runs. They are not erased. */
  readonly busy: readonly string[];
}

export interface UserPurgeExecution extends UserPurgeRequest {
  /** The confirmed count of sessions; null if it was not asked for. */
  readonly expected_sessions: number | null;
  /** As in {@link PurgeExecution}. */
  readonly rewrite: boolean;
  readonly onErased?: PurgeExecution['onErased'];
}

/** The receipt of the purge of a person. It holds neither their name nor a text of theirs. */
export interface UserPurgeReport extends PurgeReport {
  /** ISO 8601. */
  readonly erased_at: string;
  /** The erased sessions, as the audit log names them: the first 16 hexadecimal digits of the SHA-256 of each id. */
  readonly hashes: readonly string[];
  /** The sessions that are left: a turn runs in them, or they were made meanwhile. */
  readonly busy: readonly string[];
}
