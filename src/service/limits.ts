// The limits of this service. A value over its limit is refused with an error that names the limit and the size of the value.

export interface Limits {
  /** Characters (code points) of a title. */
  readonly titleCharacters: number;
  /** Characters (code points) of a tag, and the tags of a session. */
  readonly tagCharacters: number;
  readonly tags: number;
  /** UTF-8 bytes of a message. */
  readonly messageBytes: number;
  /** UTF-8 bytes of a session's system prompt, and of its parameters as JSON. */
  readonly systemBytes: number;
  readonly parametersBytes: number;
  /** Bytes of the schema of a reply, as JSON. */
  readonly schemaBytes: number;
  /** Characters (code points) of a search, and its words. */
  readonly queryCharacters: number;
  readonly queryTerms: number;
  /** The most items of a page, and the items of a page whose request names no number. */
  readonly pageItems: number;
  readonly pageItemsDefault: number;
  /** Session ids of one batch request. */
  readonly batchIds: number;
  /** How long a chat waits for the running turn of its session, in ms. */
  readonly turnWaitMs: number;
  /** How long a process holds a turn without renewing it, in ms: at most 60,000, and less than `turnWaitMs`. */
  readonly turnLeaseMs: number;
  /** How long an idempotency key is kept, in ms. */
  readonly idempotencyMs: number;
}

/** The most items of a page. A client that wants all items asks for pages of this size. */
export const maxPageItems = 200;

export const defaultLimits: Limits = {
  titleCharacters: 200,
  tagCharacters: 64,
  tags: 32,
  messageBytes: 1024 * 1024,
  systemBytes: 64 * 1024,
  parametersBytes: 16 * 1024,
  schemaBytes: 256 * 1024,
  queryCharacters: 500,
  queryTerms: 32,
  pageItems: maxPageItems,
  pageItemsDefault: 50,
  batchIds: 1000,
  turnWaitMs: 30_000,
  turnLeaseMs: 15_000,
  idempotencyMs: 24 * 60 * 60 * 1000,
};

/** Bytes of the longest request body that a Parley server takes. A client does not send a longer one. */
export const bodyBytes = 8 * 1024 * 1024;

/** A page of messages ends after this many bytes of JSON, whatever its limit. A page holds at least one message. */
export const pageBytes = 4 * 1024 * 1024;

/** The most messages of a session that a Parley server takes in one import. */
export const importedMessages = 10_000;

/** The largest position of a message: a store may keep it in 32 bits. */
export const maxPosition = 2 ** 31 - 1;
