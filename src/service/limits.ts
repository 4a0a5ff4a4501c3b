// The limits of this service, each a setting. Over one: an error that names the limit and the size that it got.

export interface Limits {
  /** Characters (code points) of a title. */
  readonly titleCharacters: number;
  /** UTF-8 bytes of a message. */
  readonly messageBytes: number;
  /** Characters (code points) and words of a search. */
  readonly queryCharacters: number;
  readonly queryTerms: number;
  /** Items of a page at most, and when none is named. */
  readonly pageItems: number;
  readonly pageItemsDefault: number;
  /** Session ids of one batch call. */
  readonly batchIds: number;
  /** How long a chat waits for the turn before it in its session, ms. */
  readonly turnWaitMs: number;
  /** How long a turn stays with a process that does not renew it, ms: at most 60,000, and less than `turnWaitMs`. */
  readonly turnLeaseMs: number;
  /** How long an engine may take to its first event, and between two, ms. */
  readonly firstTokenMs: number;
  readonly silenceMs: number;
  /** How long an idempotency key is kept, ms. */
  readonly idempotencyMs: number;
}

/** The most items of a page: what a client asks for that wants all of them. */
export const largestPage = 200;

export const defaultLimits: Limits = {
  titleCharacters: 200,
  messageBytes: 1024 * 1024,
  queryCharacters: 500,
  queryTerms: 32,
  pageItems: largestPage,
  pageItemsDefault: 50,
  batchIds: 1000,
  turnWaitMs: 30_000,
  turnLeaseMs: 15_000,
  firstTokenMs: 300_000,
  silenceMs: 60_000,
  idempotencyMs: 24 * 60 * 60 * 1000,
};

/** The longest request body that a Parley server takes. Clients know it, too, and do not send a longer one. */
export const bodyBytes = 8 * 1024 * 1024;

/** Messages that are read together, written as JSON: a page of them ends there, whatever its limit, once it holds one. */
export const pageBytes = 4 * 1024 * 1024;

/** The most messages of a session that a Parley server takes in one import: they are written in one transaction. */
export const importedMessages = 10_000;
