// Reads exported sessions from a file: one JSON object per line as they arrive, or a single JSON text that is an object or an array.
import { ParleyError } from '../../service/errors.ts';

export interface ExportedRecord {
  /** `line 3`, or `item 3` of an array. */
  readonly place: string;
  /** Undefined if the text is not JSON, or is too long. */
  readonly value: unknown;
  readonly isTooLong: boolean;
}

/** The most characters of a line, or of a text without lines. Any session fits, and so does one JavaScript string. */
export const maxRecordCharacters = 256 * 1024 * 1024;

/** `name` is the name of the source in errors. Throws `USAGE` if the source contains no session. */
export async function* readRecords(
  chunks: AsyncIterable<string>,
  name: string,
  limit = maxRecordCharacters,
): AsyncGenerator<ExportedRecord, void> {
  const splitter = new RecordSplitter(name, limit);
  for await (const chunk of chunks) yield* splitter.push(chunk);
  yield* splitter.end();
}

class RecordSplitter {
  readonly #name: string;
  readonly #limit: number;
  /** The text that is not read yet: the beginning of a line, or the whole text so far. */
  #rest = '';
  #line = 0;
  #isEmpty = true;
  /** Null until a line with text arrives. */
  #isByLine: boolean | null = null;
  /** True while the rest of a line that is too long is skipped. */
  #isSkipping = false;

  constructor(name: string, limit: number) {
    this.#name = name;
    this.#limit = limit;
  }

  *push(text: string): Generator<ExportedRecord> {
    const chunk = this.#isSkipping ? this.#afterLine(text) : text;
    this.#rest += chunk;
    if (this.#isByLine !== false && chunk.includes('\n')) yield* this.#completeLines();
    else if (this.#rest.length > this.#limit) yield this.#skipLine();
  }

  *end(): Generator<ExportedRecord> {
    if (this.#rest.trim() !== '') {
      if (this.#isByLine) yield this.#record(parsed(this.#rest));
      else {
        for (const record of wholeText(this.#rest, this.#name)) {
          this.#isEmpty = false;
          yield record;
        }
      }
    }
    if (this.#isEmpty) throw noSessions(this.#name, 'contains no session');
  }

  *#completeLines(): Generator<ExportedRecord> {
    const lines = this.#rest.split('\n');
    this.#rest = lines.pop() ?? '';
    for (const [at, text] of lines.entries()) {
      if (text.trim() === '') {
        this.#line += 1;
        continue;
      }
      this.#isByLine ??= isObject(parsed(text));
      if (!this.#isByLine) {
        this.#rest = [...lines.slice(at), this.#rest].join('\n');
        return;
      }
      yield this.#record(parsed(text));
    }
  }

  /** The part of the text after the line that is skipped; empty if the line does not end in it. */
  #afterLine(text: string): string {
    const end = text.indexOf('\n');
    if (end === -1) return '';
    this.#isSkipping = false;
    return text.slice(end + 1);
  }

  #skipLine(): ExportedRecord {
    if (this.#isByLine === false) throw tooLong(this.#name, this.#limit);
    this.#rest = '';
    this.#isByLine = true;
    this.#isSkipping = true;
    return { ...this.#record(undefined), isTooLong: true };
  }

  #record(value: unknown): ExportedRecord {
    this.#line += 1;
    this.#isEmpty = false;
    return { place: `line ${this.#line}`, value, isTooLong: false };
  }
}

function* wholeText(text: string, name: string): Generator<ExportedRecord> {
  const value = parsed(text);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      yield { place: `item ${index + 1}`, value: item, isTooLong: false };
  } else if (isObject(value)) {
    yield { place: 'item 1', value, isTooLong: false };
  } else {
    throw noSessions(name, value === undefined ? 'is not JSON' : 'contains no session');
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function tooLong(name: string, limit: number): ParleyError {
  return new ParleyError(
    'PAYLOAD_TOO_LARGE',
    `${name} is a single JSON text that exceeds the limit of ${limit} characters.`,
    {
      hint: 'Nothing was imported. Write one session per line, as sessions export does.',
    },
  );
}

function noSessions(name: string, problem: string): ParleyError {
  return new ParleyError('USAGE', `${name} ${problem}.`, {
    hint: 'Nothing was imported. Import the output of: parley sessions export --all --format json',
  });
}
