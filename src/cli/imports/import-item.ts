// An item that an import finds in a file: a session to store, or the reason why there is none.
import type { ParleyError } from '../../service/errors.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import type { SourceName } from './source.ts';

/** The branch of a conversation that becomes a session. */
interface BranchOrigin {
  readonly source: SourceName;
  readonly conversation: string;
  readonly branch: string;
}

/** A session to store. `branch` is null for a session of Parley, which keeps its own id. */
export interface ImportSession {
  readonly record: SessionRecord;
  readonly branch: BranchOrigin | null;
}

export interface ImportItem {
  /** Its position, with the file if several are read. */
  readonly place: string;
  /** The source and the id there; null for a session of Parley and for data that could not be read. */
  readonly origin: { readonly source: SourceName; readonly id: string } | null;
  readonly found:
    | { readonly session: ImportSession }
    | { readonly failure: ParleyError }
    | { readonly skipped: string };
  /** How many bytes of the files have been read. */
  readonly end: number;
}

/** The id of the session, or null. The record is validated later, so it may have any shape here. */
export function recordId(record: unknown): string | null {
  const id = (record as { session?: { session_id?: unknown } } | null | undefined)?.session?.session_id;
  return typeof id === 'string' && id !== '' ? id : null;
}
