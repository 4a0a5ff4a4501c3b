// Reads fields of a value of unknown shape. Missing fields, and those of another type, are null or empty. Nothing throws.

export type ForeignFields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): ForeignFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ForeignFields) : {};
}

/** The fields of an object that is stored as JSON. */
export function parsedFields(json: unknown): ForeignFields {
  try {
    return fieldsOf(JSON.parse(asText(json)));
  } catch {
    return {};
  }
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Null for anything but a string that is not empty. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Epoch milliseconds of a string such as `2026-01-31T12:00:00Z`; null if it is not a time. */
export function timeOfText(value: unknown): number | null {
  return typeof value === 'string' ? validTime(Date.parse(value)) : null;
}

/** Epoch milliseconds of a number of seconds. Zero means no time. */
export function timeOfSeconds(value: unknown): number | null {
  return typeof value === 'number' && value !== 0 ? validTime(Math.round(value * 1000)) : null;
}

/** Epoch milliseconds of a number of milliseconds. Zero means no time. */
export function timeOfMilliseconds(value: unknown): number | null {
  return typeof value === 'number' && value !== 0 ? validTime(Math.round(value)) : null;
}

/** The time if it is in the years 0 to 9999, which ISO 8601 writes with four digits; otherwise null. */
export function validTime(time: number): number | null {
  return time >= -62_167_219_200_000 && time <= 253_402_300_799_999 ? time : null;
}

/** A string itself, anything else as JSON. Empty for null and undefined. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
