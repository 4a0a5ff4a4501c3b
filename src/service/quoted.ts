// Quotes foreign text in an error. The text may have any length, so only its beginning is quoted.

const maxCharacters = 64;

/** A value in quotation marks for an error. Of a long value only the beginning is quoted. */
export function quoted(value: string): string {
  return JSON.stringify(beginning(value));
}

/** At most 64 characters (code points), with a mark if more follow. */
export function beginning(value: string): string {
  // A code point has two UTF-16 units at most.
  const characters = [...value.slice(0, 2 * maxCharacters + 2)];
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters).join('')}…` : value;
}

/** A long text without its middle, in `maxLength` characters. The end is kept, because it often names the problem. */
export function withoutMiddle(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = Math.floor(maxLength / 4);
  return `${text.slice(0, maxLength - end - 1)}…${text.slice(-end)}`.toWellFormed();
}
