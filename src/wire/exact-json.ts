// Parses the JSON of a server whose values are shown again. Numbers keep their digits, even where a JavaScript number would change them.
import { outsideStrings, parseJson } from '../http/foreign-json.ts';
import { ExactNumber, isHeldExactly } from '../service/exact-number.ts';

const numbers = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** A text without such a part has no number that changes. Most texts, even those with many ids, are therefore parsed directly. */
const mayChange = /(?:^|[[:,\s])-?(?:\d[\d.]{15}|[\d.]+[eE][+-]?\d\d)/;
/** Marks a string that stands for a number. A lone surrogate does not occur in valid text. */
const mark = '\udfff';
const markedNumber = /^\udfff-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Returns `undefined` for a text that is not JSON, or too large for a response. Numbers that would change become {@link ExactNumber}s. */
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
