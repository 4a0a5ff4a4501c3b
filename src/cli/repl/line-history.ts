// Stores the typed lines: a private file per profile, with one JSON string a line. The newline is written before each string, so that a
// string that a full disk cut short does not damage the next one. Many processes may add lines. A process reads the lines of the others
// when it starts.
import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../system/atomic-file.ts';
import { makePrivateDirectory } from '../../system/directories.ts';
import { fileFailure } from '../../system/file-failure.ts';
import { type LoadLocks, withFileLock } from '../../system/file-lock.ts';
import { linesFromEnd } from '../../system/lines-from-end.ts';
import { lineFor, mentionsOf, parseLine } from './typed-line.ts';

interface LineHistoryOptions {
  readonly dataDirectory: string;
  /** The name of the profile or of the server. It is a part of the file name. */
  readonly name: string;
  readonly locks: LoadLocks;
  /** True to remember the lines in this process only. */
  readonly keepsNoText?: boolean;
}

const maxLines = 1000;
/** The file is rewritten when it has this many lines more than `maxLines`. */
const slack = 500;
/** A longer line is remembered by this process only. */
const maxLineLength = 64 * 1024;
/** Only the newest part of a file that grew beyond this size is read and kept. */
const maxBytes = 64 * 1024 * 1024;
/** The longest line in the file, in bytes. JSON writes a character in up to six bytes. */
const maxJsonBytes = 6 * maxLineLength + 2;

export class LineHistory {
  readonly #options: LineHistoryOptions;
  readonly #directory: string;
  #lines: readonly string[] | null = null;
  /** The number of lines in the file when it was read, plus the lines added since. */
  #stored = 0;

  constructor(options: LineHistoryOptions) {
    this.#options = options;
    this.#directory = join(options.dataDirectory, 'history');
  }

  get path(): string {
    return join(this.#directory, `${this.#options.name}.jsonl`);
  }

  /** The lines without duplicates, the oldest first. The file is read at the first use, because the prompt does not need it. */
  get lines(): readonly string[] {
    if (this.#lines === null) {
      const { lines, stored } = this.#read();
      this.#stored = stored;
      this.#lines = lines;
    }
    return this.#lines;
  }

  /** Rejects if the line cannot be stored. The line is remembered nevertheless. */
  async add(line: string): Promise<void> {
    if (line.trim() === '') return;
    const isRepeated = this.lines.at(-1) === line;
    this.#lines = distinct([...this.lines, line]);
    if (isRepeated || line.length > maxLineLength || this.#options.keepsNoText) return;
    try {
      makePrivateDirectory(this.#directory);
      // An append does not mix with the appends of other processes. The lock protects it from a process that rewrites the file.
      await this.#locked(() => appendFileSync(this.path, encodeLine(line), { mode: 0o600 }));
      this.#stored += 1;
      if (this.#stored > maxLines + slack) await this.#shorten();
    } catch (error) {
      throw fileFailure(error, this.path, 'written', 'Lines are remembered only until this REPL ends.');
    }
  }

  /** The file is read again under the lock, because another process may have added lines. */
  #shorten(): Promise<void> {
    return this.#locked(() => {
      const { lines } = this.#read();
      this.#stored = lines.length;
      replaceFile(this.path, lines.map(encodeLine).join(''), { durable: false });
    });
  }

  #locked(action: () => void): Promise<void> {
    const { name, locks } = this.#options;
    return withFileLock({ path: join(this.#directory, `${name}.lock`), locks }, action);
  }

  /** A file that is missing or unreadable counts as empty. */
  #read(): StoredLines {
    try {
      return storedLines(this.path);
    } catch {
      return { lines: [], stored: 0 };
    }
  }
}

interface StoredLines {
  readonly lines: readonly string[];
  /** The number of lines in the file. Counting stops when the file is known to need a rewrite. */
  readonly stored: number;
}

/** Reads from the end, and no further than needed, because another program may have written millions of lines into the file. */
function storedLines(path: string): StoredLines {
  const newest = new Set<string>();
  let stored = 0;
  for (const json of linesFromEnd(path, { maxBytes, maxLineBytes: maxJsonBytes })) {
    const line = decodeLine(json);
    if (line === null) continue;
    stored += 1;
    if (newest.size < maxLines) newest.add(line);
    if (newest.size === maxLines && stored > maxLines + slack) break;
  }
  const isLarge = statSync(path).size > maxBytes;
  return { lines: [...newest].reverse(), stored: isLarge ? Number.POSITIVE_INFINITY : stored };
}

/**
 * The form of a line in the file. A line that names files has each `@` as `\u0040`, which is the same text to every version. Earlier versions,
 * in which an `@` had no meaning, wrote `@`.
 */
export function encodeLine(line: string): string {
  const json = JSON.stringify(line);
  return `\n${namesFiles(line) ? json.replaceAll('@', '\\u0040') : json}`;
}

/** Null for a line that a full disk cut short. A line of an earlier version becomes one that names no file. */
export function decodeLine(json: string): string | null {
  if (json === '') return null;
  try {
    const line: unknown = JSON.parse(json);
    if (typeof line !== 'string') return null;
    return json.includes('@') && namesFiles(line) ? lineFor(parseLine(line).text) : line;
  } catch {
    return null;
  }
}

function namesFiles(line: string): boolean {
  return mentionsOf(parseLine(line)).length > 0;
}

/** Removes duplicates. The last of equal lines stays. */
function distinct(lines: readonly string[]): string[] {
  return [...new Set(lines.toReversed())].slice(0, maxLines).reverse();
}
