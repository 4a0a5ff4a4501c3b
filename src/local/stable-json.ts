// Writes a value as JSON so that equal values give equal texts: the order of fields does not count, at any depth.

/** An object is written as the list of its fields, so an object and such a list give the same text. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1))
      : part,
  );
}
