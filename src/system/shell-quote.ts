// A word as a POSIX shell reads it back, for the commands that messages tell people to run.

/** In quotation marks only where it needs them. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : singleQuoted(word);
}

export function singleQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
