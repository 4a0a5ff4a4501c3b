// Text of others inside an error: it may be of any length, and its beginning says which was meant.

const mostCharacters = 64;

/** A value as an error names it: in quotes, its beginning where it is long. */
export function quoted(value: string): string {
  return JSON.stringify(beginning(value));
}

/** At most 64 characters (code points), and a mark that more follows. */
export function beginning(value: string): string {
  // A code point takes two units at most.
  const characters = [...value.slice(0, 2 * mostCharacters + 2)];
  return characters.length > mostCharacters ? `${characters.slice(0, mostCharacters).join('')}…` : value;
}

/** A text of more than `most` characters without its middle: its end says what is wrong. */
export function withoutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = Math.floor(most / 4);
  return `${text.slice(0, most - end - 1)}…${text.slice(-end)}`.toWellFormed();
}
