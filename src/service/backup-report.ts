// The contract of backups: what a backup of a store holds, and the results of the work on it. Like administration, it is never offered over
// HTTP.
import type { CopiedModes } from './administration.ts';

export interface BackupCounts {
  readonly projects: number;
  /** Keys, revoked ones included; 0 for a backup without keys. */
  readonly keys: number;
  readonly modes: number;
  /** Active and deleted. */
  readonly sessions: number;
  /** Visible and hidden. */
  readonly messages: number;
  /** Results of idempotency keys. */
  readonly stored_answers: number;
}

export interface BackupFacts extends BackupCounts {
  /** ISO 8601: the moment whose state the backup holds. */
  readonly made_at: string;
  /** The store that was backed up, without user and password. */
  readonly from: string;
  readonly bytes: number;
  /** SHA-256 of all lines but the last one, in hex. */
  readonly sha256: string;
}

/** The result of restoring a backup. */
export interface RestoreReport extends Omit<BackupFacts, 'modes' | 'keys'> {
  /** The store that was made. */
  readonly place: string;
  /** The path of the copy of the store that was there before; null if that held no sessions. */
  readonly kept: string | null;
  readonly keys: {
    /** Keys of the backup. */
    readonly restored: number;
    /** Keys of the store that was there before, which stay valid. */
    readonly kept: number;
  };
  readonly modes: CopiedModes;
}
