// The conditions of listings and searches beyond the project, the state and the place of a page. A value that is null passes every session.
import type { SessionPredicate } from '../session-filters.ts';
import { modeOfSession } from './sessions.ts';
import { titleRegex } from './title-regex.ts';

/**
 * The conditions on `parley.sessions AS session`. Their values are {@link conditionValues}; the first one has the number `first`. A
 * statement with them is planned again for each call, so a condition on null costs nothing.
 */
export function conditionsFrom(first: number): string {
  const value = (index: number, type: string) => `$${first + index}::${type}`;
  const [before, after] = [value(0, 'bigint'), value(1, 'bigint')];
  const [title, mode] = [value(2, 'text'), value(3, 'text')];
  const [pinned, archived, tag] = [value(4, 'boolean'), value(5, 'boolean'), value(6, 'text')];
  const user = value(7, 'text');
  return `
    AND session.updated_at < ${before} AND session.updated_at >= ${after}
    AND (${title} IS NULL OR session.title ~ ${title}) AND (${mode} IS NULL OR ${modeOfSession} = ${mode})
    AND (${pinned} IS NULL OR session.pinned = ${pinned}) AND (${archived} IS NULL OR session.archived = ${archived})
    AND (${tag} IS NULL OR EXISTS (
      SELECT 1 FROM parley.session_tags AS given WHERE given.session = session.id AND given.tag = ${tag}))
    AND (${user} IS NULL OR session.user_id = ${user})`;
}

export function conditionValues(predicate: SessionPredicate): readonly unknown[] {
  const { updatedBefore, updatedAfter, titleMatch, mode, pinned, archived, tag, user } = predicate;
  const { MIN_SAFE_INTEGER, MAX_SAFE_INTEGER } = Number;
  return [
    ...[updatedBefore ?? MAX_SAFE_INTEGER, updatedAfter ?? MIN_SAFE_INTEGER],
    ...[titleMatch && titleRegex(titleMatch), mode, pinned, archived, tag, user],
  ];
}

/** True if a session must meet a condition besides those on its times. */
export function isNarrowed({ titleMatch, mode, pinned, archived, tag, user }: SessionPredicate): boolean {
  return [titleMatch, mode, pinned, archived, tag, user].some((condition) => condition !== null);
}
