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
  let rest = '';
  let line = 0;
  let count = 0;
  /** Null until a line with text arrives. */
  let isByLine: boolean | null = null;
  /** True while the rest of a line that is too long is skipped. */
  let isSkipping = false;
  for await (const part of chunks) {
    let chunk = part;
    if (isSkipping) {
      const end = chunk.indexOf('\n');
      if (end === -1) continue;
      isSkipping = false;
      chunk = chunk.slice(end + 1);
    }
    rest += chunk;
    if (isByLine === false || !chunk.includes('\n')) {
      if (rest.length <= limit) continue;
      if (isByLine === false) throw tooLong(name, limit);
      rest = '';
      isByLine = true;
      isSkipping = true;
      line++;
      count++;
      yield { place: `line ${line}`, value: undefined, isTooLong: true };
      continue;
    }
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const [at, text] of lines.entries()) {
      if (text.trim() === '') {
        line++;
        continue;
      }
      isByLine ??= isObject(parsed(text));
      if (!isByLine) {
        rest = [...lines.slice(at), rest].join('\n');
        break;
      }
      line++;
      count++;
      yield { place: `line ${line}`, value: parsed(text), isTooLong: false };
    }
  }
  if (rest.trim() !== '') {
    if (isByLine) {
      count++;
      yield { place: `line ${line + 1}`, value: parsed(rest), isTooLong: false };
    } else {
      for (const record of wholeText(rest, name)) {
        count++;
        yield record;
      }
    }
  }
  if (count === 0) throw noSessions(name, 'contains no session');
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
