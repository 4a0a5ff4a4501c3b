// A value as JSON in which equal values have equal texts: the order of the fields, at any depth, does not count.

/** An object is written as the list of its fields, and cannot be told from such a list. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1))
      : part,
  );
}
