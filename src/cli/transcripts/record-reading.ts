// Exported sessions as a file holds them: a JSON object a line, read as it comes; or one JSON text, an object or an array.
import { ParleyError } from '../../service/errors.ts';

export interface GivenRecord {
  /** `line 3`, or `item 3` of an array. */
  readonly place: string;
  /** Undefined for what is not JSON, or too long to be read. */
  readonly value: unknown;
  readonly isTooLong: boolean;
}

/** Characters of one line, or of a text that is no lines: what a session of any store may be, and what one string can still hold. */
export const longestRecord = 256 * 1024 * 1024;

/** `name` is what errors call the source. Throws `USAGE` where there is nothing that could be a session. */
export async function* readRecords(
  chunks: AsyncIterable<string>,
  name: string,
  limit = longestRecord,
): AsyncGenerator<GivenRecord, void> {
  let rest = '';
  let line = 0;
  let count = 0;
  /** Undecided until a line says something. */
  let isByLine: boolean | null = null;
  /** The end of a line that was too long: nothing of it is held. */
  let isPassing = false;
  for await (const given of chunks) {
    let chunk = given;
    if (isPassing) {
      const end = chunk.indexOf('\n');
      if (end === -1) continue;
      isPassing = false;
      chunk = chunk.slice(end + 1);
    }
    rest += chunk;
    if (isByLine === false || !chunk.includes('\n')) {
      if (rest.length <= limit) continue;
      if (isByLine === false) throw tooLong(name, limit);
      rest = '';
      isByLine = true;
      isPassing = true;
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
  if (count === 0) throw noSessions(name, 'holds no session');
}

function* wholeText(text: string, name: string): Generator<GivenRecord> {
  const value = parsed(text);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      yield { place: `item ${index + 1}`, value: item, isTooLong: false };
  } else if (isObject(value)) {
    yield { place: 'item 1', value, isTooLong: false };
  } else {
    throw noSessions(name, value === undefined ? 'is not JSON' : 'holds no session');
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
    `${name} is one JSON text of more than ${limit} characters, the limit.`,
    {
      hint: 'Nothing was imported. Give a session a line, as the export writes them: then each is read by itself.',
    },
  );
}

function noSessions(name: string, problem: string): ParleyError {
  return new ParleyError('USAGE', `${name} ${problem}.`, {
    hint: 'Nothing was imported. Give what this writes: parley sessions export --all --format json',
  });
}
