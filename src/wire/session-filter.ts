// Encodes and decodes the conditions of listings and searches in a query. Without `archived`, a listing leaves archived sessions out, but a
// search does not.
import type { SessionConditions } from '../service/session-archive.ts';
import type { Query } from './operation-path.ts';

/** The values of `archived` in a query. */
export const archivedValues = ['true', 'false', 'any'] as const;

type ArchivedValue = (typeof archivedValues)[number];

/** The query to send. `archived` is left out if it has its default value. */
export function conditionsQuery(
  { archived, ...conditions }: SessionConditions,
  archivedByDefault: boolean | null,
): Query {
  const isDefault = archived === archivedByDefault;
  return { ...conditions, archived: isDefault ? null : archived === null ? 'any' : String(archived) };
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
    archived: archived === undefined ? archivedByDefault : archived === 'any' ? null : archived === 'true',
  };
}
