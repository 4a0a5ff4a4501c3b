// A statement of SQL with a name by its text: a connection prepares it once under this name. Two versions of Parley may share a
// connection of a pooler, so a name never stands for two texts.
import { createHash } from 'node:crypto';

/** The tables are written as `parley.sessions`; a connection puts its own schema in place of `parley`. */
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
 * A statement whose best plan depends on its values. PostgreSQL soon plans a prepared one for all values at once: for a rare word it would then
 * read the whole table from its end.
 */
export function plannedAnew(text: string): Statement {
  return { text: text.trim(), plannedAnew: true };
}

/** Whether it changes nothing. */
export function isRead({ text }: Statement): boolean {
  return !/\b(INSERT|UPDATE|DELETE)\b/.test(text);
}

/** The same statement for tables in another schema. */
export function inSchema({ text }: Statement, schema: string): NamedStatement {
  const inPlace = text.replaceAll(/\bparley\./g, `${quotedName(schema)}.`);
  const hash = createHash('sha256').update(inPlace).digest('hex').slice(0, 24);
  return { name: `parley_${hash}`, text: inPlace };
}

export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
