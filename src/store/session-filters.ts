// What a store is asked for: pages of sessions and of messages, searches, and what a purge erases. Places are what a cursor held, read
// already: a store knows no cursors.
import type { SessionOrder } from '../service/session-archive.ts';

/** A page of rows. `hasMore`: at least one row follows the last. */
export interface Rows<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
}

/** Where a page of sessions ended: behind the session of this id at this time (ms), which need not be there any more. */
export interface SessionPlace {
  readonly time: number;
  readonly sessionId: string;
}

/** All that is not null must hold. Sessions of one time are in the order of their ids, which compare byte by byte. */
export interface SessionFilter extends SessionOrder {
  /** At least 1. */
  readonly limit: number;
  /** Its time is the one that the order counts. Null for the first page. */
  readonly after: SessionPlace | null;
  /** A session without a title passes no pattern. */
  readonly titleMatch: TitlePattern | null;
  /** Last activity strictly before (ms). */
  readonly updatedBefore: number | null;
  /** Last activity at or after (ms). */
  readonly updatedAfter: number | null;
  /** True: the deleted sessions instead of the active ones. */
  readonly deleted: boolean;
}

/** A whole title: these parts, one behind the other. Characters are code points, compared as they are. */
export type TitlePattern = readonly TitlePart[];

export type TitlePart =
  | { readonly kind: 'text'; readonly text: string }
  /** Any one character. */
  | { readonly kind: 'one' }
  /** Any characters, or none. */
  | { readonly kind: 'any' }
  /** One character that is, or with `isNegated` is not, in one of the ranges. Without a range it is none: nothing matches. */
  | { readonly kind: 'set'; readonly isNegated: boolean; readonly ranges: readonly CharacterRange[] };

/** From a character to another, both included; `from` comes first or is the same. */
export interface CharacterRange {
  readonly from: string;
  readonly to: string;
}

export interface MessagePlace {
  /** At least 1. */
  readonly limit: number;
  /** The page begins behind this position; null for the first page. */
  readonly after: number | null;
}

/** A text that a message must hold; with `prefix`, its last word may go on. */
export interface SearchTerm {
  /** Holds a letter or a digit. */
  readonly text: string;
  readonly prefix: boolean;
}

/** Where a page of a search ended: behind the session with this score, its newest hit of this time (ms). */
export interface SearchPlace {
  readonly score: number;
  readonly time: number;
  readonly sessionId: string;
}

export interface SearchFilter {
  /** A message must hold all. At least one. */
  readonly terms: readonly SearchTerm[];
  /**
   * `words`: a term is one or more words in a row. A word is letters, digits and private use with the marks upon them; case and accents
   * do not count. `pieces`: a term is any characters in a row, case aside, of messages in a script that is written without spaces.
   */
  readonly matching: 'words' | 'pieces';
  /** Sessions on the page. At least 1. */
  readonly limit: number;
  /** Null for the first page. */
  readonly after: SearchPlace | null;
}

/** Deleted sessions in which no reply runs. */
export interface PurgeFilter {
  /** Null for all projects. */
  readonly projectId: string | null;
  /** Deleted strictly before (ms). */
  readonly deletedBefore: number;
}
