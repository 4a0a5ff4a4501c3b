// What an import finds in a file: a session to store, or why there is none.
import type { ParleyError } from '../../service/errors.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import type { SourceName } from './source.ts';

/** The branch of a conversation that a session is made of. */
export interface BranchOrigin {
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
  /** Where it stands, with the file if several are read. */
  readonly place: string;
  /** The source and its id; null for a session of Parley and for what could not be read. */
  readonly origin: { readonly source: SourceName; readonly id: string } | null;
  readonly found:
    | { readonly session: ImportSession }
    | { readonly failure: ParleyError }
    | { readonly skipped: string };
  /** How far the files are read, in bytes. */
  readonly end: number;
}
