// Quotes text of others in an error. The text may have any length, and its beginning tells what was meant.

const mostCharacters = 64;

/** A value in quotation marks, as an error names it. Of a long value only the beginning is quoted. */
export function quoted(value: string): string {
  return JSON.stringify(beginning(value));
}

/** At most 64 characters (code points), and a mark where more follow. */
export function beginning(value: string): string {
  // A code point has two UTF-16 units at most.
  const characters = [...value.slice(0, 2 * mostCharacters + 2)];
  return characters.length > mostCharacters ? `${characters.slice(0, mostCharacters).join('')}…` : value;
}

/** A text of more than `most` characters without its middle. The end is kept, because it tells what is wrong. */
export function withoutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = Math.floor(most / 4);
  return `${text.slice(0, most - end - 1)}…${text.slice(-end)}`.toWellFormed();
}
