// The filters of a store: pages of sessions and messages, searches, and purges. A place is a decoded cursor; a store knows no cursors.
import type { SessionOrder } from '../service/session-archive.ts';

/** A page of rows. `hasMore` is true if at least one row follows the last. */
export interface Rows<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
}

/** The place where a page of sessions ended: after the session with this id and this time (ms). The session may no longer exist. */
export interface SessionPlace {
  readonly time: number;
  readonly sessionId: string;
}

/** A session passes if it meets every condition that is not null. */
export interface SessionPredicate {
  /** A session without a title matches no pattern. */
  readonly titleMatch: TitlePattern | null;
  /** The last activity is strictly before this time (ms). */
  readonly updatedBefore: number | null;
  /** The last activity is at or after this time (ms). */
  readonly updatedAfter: number | null;
  readonly mode: string | null;
  readonly tag: string | null;
  readonly user: string | null;
  readonly pinned: boolean | null;
  readonly archived: boolean | null;
}

/** Sessions with equal times are ordered by their ids, compared byte by byte. */
export interface SessionFilter extends SessionOrder, SessionPredicate {
  /** At least 1. */
  readonly limit: number;
  /** The place where the last page ended; its time is the one that sorts the list. Null for the first page. */
  readonly after: SessionPlace | null;
  /** The id ends in these characters. */
  readonly idSuffix: string | null;
  /** True selects the deleted sessions, false the active ones. */
  readonly deleted: boolean;
}

/** Which sessions a listing shows. `listed`: the active ones that are not archived. `active`: archived ones too. */
export type ListedState = 'listed' | 'archived' | 'active' | 'deleted';

export function stateOf({ deleted, archived }: SessionFilter): ListedState {
  if (deleted) return 'deleted';
  return archived === null ? 'active' : archived ? 'archived' : 'listed';
}

/** A pattern for a whole title: these parts in sequence. Characters are code points and are compared exactly. */
export type TitlePattern = readonly TitlePart[];

export type TitlePart =
  | { readonly kind: 'text'; readonly text: string }
  /** Any one character. */
  | { readonly kind: 'one' }
  /** Any number of characters, also none. */
  | { readonly kind: 'any' }
  /** One character inside one of the ranges, or outside all of them with `isNegated`. A set without ranges matches no character. */
  | { readonly kind: 'set'; readonly isNegated: boolean; readonly ranges: readonly CharacterRange[] };

/** The characters from `from` to `to`, both included; `from` is not after `to`. */
export interface CharacterRange {
  readonly from: string;
  readonly to: string;
}

export interface MessagePlace {
  /** At least 1. */
  readonly limit: number;
  /** The page begins after this position; null for the first page. */
  readonly after: number | null;
}

/** A page of all messages of a session: by position, then by id, byte by byte. A message keeps its place when it is hidden or shown. */
export interface AnyMessagePlace {
  /** At least 1. */
  readonly limit: number;
  /** The page begins after this message; null for the first page. */
  readonly after: { readonly position: number; readonly messageId: string } | null;
}

/** A text that a message must hold. With `prefix`, the last word may be the beginning of a longer one. */
export interface SearchTerm {
  /** Holds at least one letter or digit. */
  readonly text: string;
  readonly prefix: boolean;
}

/** The place where a page of a search ended: after the session with this score and this time (ms) of its newest hit. */
export interface SearchPlace {
  readonly score: number;
  readonly time: number;
  readonly sessionId: string;
}

export interface SearchFilter {
  /** The conditions for the sessions whose messages are searched. */
  readonly sessions: SessionPredicate;
  /** At least one term; a message must hold all of them. */
  readonly terms: readonly SearchTerm[];
  /**
   * `words`: a term is one or more words in a row. A word is letters, digits and private-use characters with their marks; case and accents
   * are ignored. `pieces`: a term is any characters in a row, in messages of a script written without spaces; case is ignored.
   */
  readonly matching: 'words' | 'pieces';
  /** How many sessions are on the page; at least 1. */
  readonly limit: number;
  /** Null for the first page. */
  readonly after: SearchPlace | null;
}

/** Selects deleted sessions in which no turn runs: those that were deleted strictly before a time (ms), or those of a user. */
export type PurgeFilter = {
  /** Null for all projects. */
  readonly projectId: string | null;
} & ({ readonly deletedBefore: number } | { readonly user: string });
