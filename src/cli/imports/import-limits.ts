// The limits of an import. They bound memory and time for any file. Data that exceeds a limit is refused with its position.
import { ParleyError } from '../../service/errors.ts';

export const importLimits = {
  /** Bytes of one conversation as JSON, and of one line. */
  itemBytes: 64 * 1024 * 1024,
  /** Values of one conversation or one line. Each may take a hundred bytes of memory. */
  values: 5_000_000,
  /** Bytes of a file with one session, and of the result of one database query. */
  sessionBytes: 256 * 1024 * 1024,
  /** The deepest nesting of the values of one conversation. */
  depth: 1000,
  /** Branches of one conversation. If there are more, the current one and the first others are imported. */
  branches: 100,
  /** Messages of one branch. */
  messages: 100_000,
  /** Files of a directory or an archive, and the deepest nesting of directories. */
  files: 1_000_000,
  directories: 32,
  /** A file of an archive that is larger than `bombBytes` may be at most `bombRatio` times larger than its compressed form. */
  bombBytes: 16 * 1024 * 1024,
  bombRatio: 200,
  /** Characters of a note about a tool call, its result or reasoning, and of the text of an attachment. */
  noteCharacters: 2000,
  attachmentCharacters: 64 * 1024,
} as const;

export function tooMany(path: string, problem: string): ParleyError {
  return new ParleyError('PAYLOAD_TOO_LARGE', `${path} ${problem}.`, {
    hint: 'It was skipped; the rest was read.',
  });
}
