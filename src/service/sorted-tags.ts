// The order of a session's tags, wherever they are shown, stored or sent.

/** Each tag once, in the order of their code points, which is also that of their bytes. */
export function sortedTags(tags: readonly string[]): readonly string[] {
  return [...new Set(tags)].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}
