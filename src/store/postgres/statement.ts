// SQL statements with names. A connection prepares a statement once under its name. The name is a hash of the text, because two versions of
// Parley may share a connection of a pooler.
import { createHash } from 'node:crypto';

/** A statement as it is written: its tables are in the schema `parley`, for example `parley.sessions`. */
export interface Statement {
  readonly text: string;
  /** True: it is never prepared, so that its plan fits the values of each call. */
  readonly plannedAnew?: boolean;
}

export interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

export function statement(text: string): Statement {
  return { text: text.trim() };
}

/**
 * A statement whose best plan depends on its values. PostgreSQL soon plans a prepared one for all values at once: for a rare word it would
 * then read the whole table from its end.
 */
export function plannedAnew(text: string): Statement {
  return { text: text.trim(), plannedAnew: true };
}

/** True if the statement changes nothing. */
export function isRead({ text }: Statement): boolean {
  return !/\b(INSERT|UPDATE|DELETE)\b/.test(text);
}

/** The same statement for tables in another schema. */
export function inSchema({ text }: Statement, schema: string): NamedStatement {
  const inPlace = text.replaceAll(/\bparley\./g, `${quotedName(schema)}.`);
  const hash = createHash('sha256').update(inPlace).digest('hex').slice(0, 24);
  return { name: `parley_${hash}`, text: inPlace };
}

/** SQL: the time of the database's clock, in epoch milliseconds. */
export const nowMs = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** A name as a quoted SQL identifier. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * A value that PostgreSQL accepts. It refuses a NUL character in text, and with it all calls of the group. No stored text has one, so an id
 * with a NUL character must only find nothing. The driver replaces half of a surrogate pair by the same character.
 */
export function withoutNul(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '\ufffd');
  return Array.isArray(value) ? value.map(withoutNul) : value;
}
