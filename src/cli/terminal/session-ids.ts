// Reads the session ids of a command from stdin, in order, and checks each one.
import { ParleyError } from '../../service/errors.ts';
import { isSessionId } from '../../service/session.ts';
import { filterLine } from './filter.ts';
import { type StdinReading, stdinText } from './stdin.ts';
import { NotText } from './utf8-reader.ts';

/** The lines of a listing have a title and a few fields. A longer line is not part of a list of ids. */
const lineLength = 1024 * 1024;

/** The most lines without a new id: blank lines, comments and duplicates. Only an endless input has more. */
export const maxIdleLines = 1_000_000;

/** The failure for an argument that is not a session id. */
export function notAnId(word: string): ParleyError {
  return idFailure(`${quoted(word)} is not a session id.`, 'session_id', wordHint);
}

/**
 * Reads one id a line, or a JSON object with `session_id`. Blank lines and lines that start with `#` are skipped. `take` receives the ids in
 * order, and returns whether an id is new. The first malformed line ends the reading.
 */
export async function readIds(reading: StdinReading, take: (id: string) => boolean): Promise<void> {
  let number = 0;
  let idleLines = 0;
  let rest = '';
  const takeLine = (line: string) => {
    number++;
    const id = idOfLine(line, number);
    if (id !== null && take(id)) return;
    idleLines++;
    if (idleLines > maxIdleLines) throw endless(number);
  };
  const takeText = (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) takeLine(line);
  };
  try {
    for await (const chunk of stdinText(reading, null)) {
      takeText(chunk);
      if (rest.length > lineLength) {
        const problem = `Line ${number + 1} of standard input is longer than ${lineLength} characters: ${quoted(rest)}.`;
        throw idFailure(problem, `line ${number + 1}`, lineHint);
      }
    }
  } catch (error) {
    if (!(error instanceof NotText)) throw error;
    takeText(error.before);
    const column = Array.from(rest).length + 1;
    const problem = `Line ${number + 1} of standard input has ${error.fault} at column ${column}.`;
    throw idFailure(problem, `line ${number + 1}`, lineHint);
  }
  if (rest !== '') takeLine(rest);
}

function idOfLine(line: string, number: number): string | null {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return null;
  const id = text.startsWith('{') ? idOfObject(text) : text;
  if (id !== null && isSessionId(id) && !isQuoted(text)) return id;
  const problem = `Line ${number} of standard input has no session id: ${quoted(text)}.`;
  throw idFailure(problem, `line ${number}`, `${lineForm} ${extractionOf(text)}`);
}

/** Says how to extract the ids from a line like this one. */
function extractionOf(text: string): string {
  if (isQuoted(text)) return fromJson;
  return resultForm.test(text) ? fromResults : fromListing;
}

/** A line of the results of a batch: the status, the id, and the code of a failure. */
const resultForm = /^[a-z_]+ \S+( [A-Z_]+)?$/;

/** True for a text in quotation marks, as jq prints it. It would be an id that no session has. */
function isQuoted(text: string): boolean {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"');
}

function idOfObject(text: string): string | null {
  try {
    const object: { readonly session_id?: unknown } = JSON.parse(text);
    return typeof object.session_id === 'string' ? object.session_id : null;
  } catch {
    return null;
  }
}

const wordHint = 'Nothing was done. An id is 1 to 255 visible characters, not . or .. (is a variable unset?)';
const lineForm = 'Nothing was done. A line must be an id alone, or a JSON object with "session_id".';
const fromListing = '"cut -f1" extracts the ids of a listing.';
const fromResults = `"cut -d' ' -f2" extracts the ids of results.`;
const fromJson = '"jq -r" prints ids without quotation marks.';
const lineHint = `${lineForm} ${fromListing}`;

function endless(line: number): ParleyError {
  const problem = `more than ${maxIdleLines} lines without a new session id`;
  return new ParleyError('USAGE', `Standard input has ${problem}, such as line ${line}.`, {
    hint: 'Nothing was done. Check that the input ends. "sort -u" removes duplicates and blank lines.',
    details: [{ field: `line ${line}`, problem: 'names no further session' }],
  });
}

function idFailure(message: string, field: string, hint: string): ParleyError {
  return new ParleyError('USAGE', message, {
    hint,
    details: [{ field, problem: 'is not a session id' }],
  });
}

/** The start of foreign text for an error message: filtered, and on one line. */
function quoted(text: string): string {
  const beginning = text.slice(0, 400).match(/^.{0,60}/su)?.[0] ?? '';
  return `"${filterLine(beginning)}${beginning.length < text.length ? '…' : ''}"`;
}
