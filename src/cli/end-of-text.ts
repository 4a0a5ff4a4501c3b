// Finds the end of a text that may be long. A regular expression that is anchored only at the end takes quadratic time, because it starts
// again at each character: 100,000 line ends followed by another character take a minute.

/** The text without its trailing line feeds. */
export function withoutLastNewlines(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}

/** The start of the last word. White space after a word belongs to it. */
export function lastWordStart(text: string): number {
  let start = text.trimEnd().length;
  while (start > 0 && !/\s/.test(text[start - 1] ?? '')) start -= 1;
  return start;
}
