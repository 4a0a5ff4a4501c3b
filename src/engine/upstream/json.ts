// Fields of a JSON value that somebody else wrote, where nothing is certain.

/** Undefined for what is not there, and for a field of what is no object. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
