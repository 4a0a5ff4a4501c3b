// Turns the conditions of a listing or a search into the predicate that a store tests. Throws `INVALID_REQUEST` for a value that no session
// can meet.
import type { Limits } from '../service/limits.ts';
import type { SessionConditions } from '../service/session-archive.ts';
import { tagForm } from '../service/sorted-tags.ts';
import type { SessionPredicate } from '../store/session-filters.ts';
import { checkTag, checkText, checkTitleMatch, checkUser, readTime } from './text-rules.ts';
import { readTitlePattern } from './title-pattern.ts';

export function readConditions(conditions: SessionConditions, limits: Limits): SessionPredicate {
  const { title_match, updated_before, updated_after, mode, tag, user, pinned, archived } = conditions;
  if (title_match !== null) checkTitleMatch(title_match, limits);
  if (mode !== null) checkText('mode', mode);
  if (tag !== null) checkTag('tag', tag, limits);
  if (user !== null) checkUser('user', user);
  return {
    titleMatch: title_match === null ? null : readTitlePattern(title_match),
    updatedBefore: readTime('updated_before', updated_before),
    updatedAfter: readTime('updated_after', updated_after),
    mode,
    user,
    pinned,
    archived,
    tag: tag === null ? null : tagForm(tag),
  };
}
