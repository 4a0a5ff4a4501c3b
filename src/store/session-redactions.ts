// The operations of a store that take texts out of stored sessions. They are apart from the other operations because no service offers
// them.
import type { ErasureReport } from '../service/erasure.ts';
import type { SessionChanges } from '../service/session-archive.ts';
import type { AuditNote, AuditOrigin } from './audit-log.ts';

export interface SessionRedaction {
  /** Visible and hidden messages. `was` is the present text; a message with another text is not changed. */
  readonly messages: readonly {
    readonly message_id: string;
    readonly was: string;
    readonly content: string;
  }[];
  readonly changes: SessionChanges;
  /** Who does it, for the audit log, which records it in the same transaction. */
  readonly by?: AuditOrigin;
}

export type RedactionEnd =
  | { readonly kind: 'redacted' }
  /** A turn runs in the session. */
  | { readonly kind: 'busy' }
  /** A message is gone, or has another text by now. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'not_found' };

export interface StoreRedactions {
  /**
   * Replaces texts of an active session, in one transaction, and erases the answers to repeated requests that name the session or one of
   * the messages. Their bytes stay in the files until `overwrite`. This is no activity.
   */
  redact(projectId: string, sessionId: string, redaction: SessionRedaction): Promise<RedactionEnd>;
  /**
   * Does what the end of a purge does: afterwards no replaced byte is in the files of the store, as far as the store can reach them.
   * `rewrites` as in `PurgeOptions`. Rejects with `STORE_BUSY` like a purge.
   */
  overwrite(options: { readonly rewrites: boolean }): Promise<ErasureReport>;
  /** The ids of the sessions, of all projects and deleted ones included, that hold one of these texts; at most `limit`. */
  holders(texts: readonly string[], limit: number): Promise<readonly string[]>;
}

export function redactionNote(by: AuditOrigin, project_id: string, sessionId: string): AuditNote {
  return { ...by, what: 'redact', project_id, count: 1, ids: [sessionId] };
}
