// The ends of texts that may be long. A regular expression anchored at the end of a text alone takes quadratic time: it begins anew at
// each character of each run on the way, and 100,000 line ends before another character keep the process busy for a minute.

/** Without the line feeds at its end. */
export function withoutLastNewlines(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}

/** Where the last word begins, with the white space after it. */
export function lastWordStart(text: string): number {
  let start = text.trimEnd().length;
  while (start > 0 && !/\s/.test(text[start - 1] ?? '')) start -= 1;
  return start;
}
