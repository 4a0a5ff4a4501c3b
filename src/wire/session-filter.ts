// Encodes and decodes the conditions of listings and searches in a query. Without `archived`, a listing leaves archived sessions out, but a
// search does not.
import type { SessionConditions } from '../service/session-archive.ts';
import type { Query } from './operation-path.ts';

/** The values of `archived` in a query. */
export const archivedValues = ['true', 'false', 'any'] as const;

type ArchivedValue = (typeof archivedValues)[number];

const archivedOf: Readonly<Record<ArchivedValue, boolean | null>> = { true: true, false: false, any: null };

/** The query to send. `archived` is left out if it has its default value. */
export function conditionsQuery(
  { archived, ...conditions }: SessionConditions,
  archivedByDefault: boolean | null,
): Query {
  const value = archived === null ? 'any' : String(archived);
  return { ...conditions, archived: archived === archivedByDefault ? null : value };
}

/** The conditions of a received query. A missing field matches every session. */
export function readConditionsQuery(
  query: {
    readonly [Name in keyof Omit<SessionConditions, 'archived'>]?: SessionConditions[Name] | undefined;
  } & {
    readonly archived?: ArchivedValue | undefined;
  },
  archivedByDefault: boolean | null,
): SessionConditions {
  const { archived } = query;
  return {
    title_match: query.title_match ?? null,
    updated_before: query.updated_before ?? null,
    updated_after: query.updated_after ?? null,
    mode: query.mode ?? null,
    tag: query.tag ?? null,
    user: query.user ?? null,
    pinned: query.pinned ?? null,
    archived: archived === undefined ? archivedByDefault : archivedOf[archived],
  };
}
