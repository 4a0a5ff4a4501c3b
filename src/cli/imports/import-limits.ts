// The limits of an import. They keep memory and time bounded whatever a file holds; what is over a limit is refused with its place.

export const importLimits = {
  /** Bytes of one conversation as JSON, and of one line. */
  itemBytes: 64 * 1024 * 1024,
  /** Values of one conversation, or of one line. Each may take a hundred bytes of memory. */
  values: 5_000_000,
  /** Bytes of a file that holds one session, and of what one query of a database gives. */
  sessionBytes: 256 * 1024 * 1024,
  /** How deep the values of one conversation may be nested. */
  depth: 1000,
  /** Branches of one conversation; of more, the current one and the first others are imported. */
  branches: 100,
  /** Messages of one branch. */
  messages: 100_000,
  /** Files of a directory or an archive, and how deep directories may be nested. */
  files: 1_000_000,
  directories: 32,
  /** An archive's file over `bombBytes` may be this many times larger than its compressed form. */
  bombBytes: 16 * 1024 * 1024,
  bombRatio: 200,
  /** Characters of a note about a tool call, its result or thinking, and of the text of an attachment. */
  noteCharacters: 2000,
  attachmentCharacters: 64 * 1024,
} as const;
