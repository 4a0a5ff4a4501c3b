// The form and the order of a session's tags, wherever they are shown, stored or sent.

/** A letter with its accent is one character, however it was typed. */
export function tagForm(tag: string): string {
  return tag.normalize('NFC');
}

/** Each tag once, in the order of their code points, which is also that of their bytes. */
export function sortedTags(tags: readonly string[]): readonly string[] {
  return [...new Set(tags.map(tagForm))].sort((one, other) =>
    Buffer.compare(Buffer.from(one), Buffer.from(other)),
  );
}
