// Finds the end of a text that may be long. A regular expression that is anchored only at the end takes quadratic time: it starts again at
// each character of each run, and 100,000 line ends before another character take a minute.

/** The text without the line feeds at its end. */
export function withoutLastNewlines(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}

/** The start of the last word; the white space behind it belongs to the word. */
export function lastWordStart(text: string): number {
  let start = text.trimEnd().length;
  while (start > 0 && !/\s/.test(text[start - 1] ?? '')) start -= 1;
  return start;
}
