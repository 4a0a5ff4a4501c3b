// JSON of unknown shape, looked into without trust: what is not there, or is of another type, is null.

export type JsonObject = Readonly<Record<string, unknown>>;

export function objectOrNull(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** A field of the object's own; null where the value is no object. */
export function fieldOf(value: unknown, name: string): unknown {
  const object = objectOrNull(value);
  return object !== null && Object.hasOwn(object, name) ? object[name] : null;
}

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The first of several values that is a text and not empty. */
export function firstText(...values: readonly unknown[]): string | null {
  return values.map(textOrNull).find((text) => text !== null) ?? null;
}
