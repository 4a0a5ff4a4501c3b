// JSON of a server whose values are shown again: the digits of its numbers stay what they are, also where a JavaScript number would change
// them.
import { endOfString, parseJson } from '../http/foreign-json.ts';
import { ExactNumber, isHeldExactly } from '../service/exact-number.ts';

const numbers = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** No text without such a part holds a number that changes. Most texts are therefore parsed as they are, also those with many ids. */
const mayChange = /(?:^|[[:,\s])-?(?:\d[\d.]{15}|[\d.]+[eE][+-]?\d\d)/;
/** Marks a string that stands for a number. A lone surrogate is no part of a valid text. */
const mark = '\udfff';
const markedNumber = /^\udfff-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** `undefined` for a text that is not JSON, or too large for a response. Numbers that would change are {@link ExactNumber}s. */
export function parseExactJson(text: string): unknown {
  const value = parseJson(text);
  if (value === undefined || !mayChange.test(text)) return value;
  const marked = outsideStrings(text, (part) =>
    part.replace(numbers, (literal) => (isHeldExactly(literal) ? literal : JSON.stringify(mark + literal))),
  );
  return JSON.parse(marked, (_name, inner: unknown) =>
    typeof inner === 'string' && markedNumber.test(inner) ? new ExactNumber(inner.slice(mark.length)) : inner,
  );
}

/** Valid JSON with its parts between strings changed. A pattern for whole strings would exhaust the stack at long ones. */
function outsideStrings(json: string, change: (part: string) => string): string {
  const parts: string[] = [];
  let at = 0;
  for (let start = json.indexOf('"'); start !== -1; start = json.indexOf('"', at)) {
    const end = endOfString(json, start) + 1;
    parts.push(change(json.slice(at, start)), json.slice(start, end));
    at = end;
  }
  return parts.join('') + change(json.slice(at));
}
