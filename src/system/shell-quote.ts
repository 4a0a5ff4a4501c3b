// Quotes a word so that a POSIX shell reads it back unchanged, for commands in messages.

/** Adds quotation marks only to a word that needs them. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : singleQuoted(word);
}

export function singleQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
