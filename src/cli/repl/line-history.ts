// The lines that were typed, on disk: a file per profile, private, a JSON string a line, its line end before it (then one
// that a full disk cut short spoils no other). Many processes may add to it at once; what one
// adds, another sees when it starts.
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileFailure } from '../../config/file-failure.ts';
import { withFileLock } from '../../config/held-lock.ts';
import { replaceFile } from '../../system/atomic-file.ts';
import { makePrivateDirectory } from '../../system/directories.ts';
import type { LoadLocks } from '../../system/file-lock.ts';

export interface LineHistoryOptions {
  readonly dataDirectory: string;
  /** Of the profile, or of the server: part of a file's name. */
  readonly name: string;
  readonly locks: LoadLocks;
}

const mostLines = 1000;
/** The file is rewritten when it holds so many more. */
const slack = 500;
/** A longer line is remembered by this process alone. */
const longestLine = 64 * 1024;

export class LineHistory {
  readonly #options: LineHistoryOptions;
  readonly #directory: string;
  #lines: readonly string[] | null = null;
  /** Lines in the file when it was read, and those added since. */
  #stored = 0;

  constructor(options: LineHistoryOptions) {
    this.#options = options;
    this.#directory = join(options.dataDirectory, 'history');
  }

  get path(): string {
    return join(this.#directory, `${this.#options.name}.jsonl`);
  }

  /** The oldest first, none twice. Read from the file when first asked for: a prompt needs none of it. */
  get lines(): readonly string[] {
    if (this.#lines === null) {
      const stored = this.#read();
      this.#stored = stored.length;
      this.#lines = distinct(stored);
    }
    return this.#lines;
  }

  /** Rejects when it cannot be kept; it is remembered nevertheless. */
  async add(line: string): Promise<void> {
    if (line.trim() === '') return;
    const isRepeated = this.lines.at(-1) === line;
    this.#lines = distinct([...this.lines, line]);
    if (isRepeated || line.length > longestLine) return;
    try {
      makePrivateDirectory(this.#directory);
      // One write at the end of the file: lines of several processes do not mix. The lock is for those who rewrite it.
      await this.#locked(() => appendFileSync(this.path, `\n${JSON.stringify(line)}`, { mode: 0o600 }));
      this.#stored += 1;
      if (this.#stored > mostLines + slack) await this.#shorten();
    } catch (error) {
      throw fileFailure(error, this.path, 'written', 'What is typed is remembered until this ends.');
    }
  }

  /** The file is read again under the lock: another process may have added to it. */
  #shorten(): Promise<void> {
    return this.#locked(() => {
      const lines = distinct(this.#read());
      this.#stored = lines.length;
      const text = lines.map((line) => `\n${JSON.stringify(line)}`).join('');
      replaceFile(this.path, text, { durable: false });
    });
  }

  #locked(action: () => void): Promise<void> {
    const { name, locks } = this.#options;
    return withFileLock({ path: join(this.#directory, `${name}.lock`), locks }, action);
  }

  /** A file that is not there, or cannot be read, is an empty one. */
  #read(): readonly string[] {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch {
      return [];
    }
    return text.split('\n').flatMap(lineOfFile);
  }
}

/** Nothing for a line that a full disk cut short. */
function lineOfFile(json: string): readonly string[] {
  if (json === '') return [];
  try {
    const line: unknown = JSON.parse(json);
    return typeof line === 'string' ? [line] : [];
  } catch {
    return [];
  }
}

/** Of equal lines the last counts. */
function distinct(lines: readonly string[]): string[] {
  return [...new Set(lines.toReversed())].slice(0, mostLines).reverse();
}
