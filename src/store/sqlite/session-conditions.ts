// The conditions of listings and searches that no index of the sessions' order answers. They are tested row by row. Each binding may be
// null, which every session passes.
import type { SessionPredicate } from '../session-filters.ts';
import type { Bindings } from './driver.ts';
import { inProject, modeOfSession } from './sessions.ts';
import { titleGlob } from './title-glob.ts';

/** Conditions on the row of a session in the table `sessions`. */
export const meetsRest = `
  (@pinned IS NULL OR sessions.pinned = @pinned) AND (@archived IS NULL OR sessions.archived = @archived)
  AND (@mode IS NULL OR ${modeOfSession} = @mode)
  AND (@tag IS NULL OR EXISTS (
    SELECT 1 FROM session_tags AS given WHERE given.session = sessions.id AND given.tag = @tag))
  AND (@user IS NULL OR sessions.user_id = @user)`;

/** All conditions. */
export const meetsAll = `
  sessions.updated_at >= @updatedAfter AND sessions.updated_at < @updatedBefore
  AND (@titleMatch IS NULL OR sessions.title GLOB @titleMatch) AND ${meetsRest}`;

export function conditionBindings(predicate: SessionPredicate) {
  const { updatedBefore, updatedAfter, titleMatch, pinned, archived, mode, tag, user } = predicate;
  return {
    updatedBefore: updatedBefore ?? Number.MAX_SAFE_INTEGER,
    updatedAfter: updatedAfter ?? Number.MIN_SAFE_INTEGER,
    titleMatch: titleMatch && titleGlob(titleMatch),
    pinned: pinned === null ? null : Number(pinned),
    archived: archived === null ? null : Number(archived),
    ...{ mode, tag, user },
  } satisfies Bindings;
}

/** The bindings of the sessions whose messages are searched. */
export type SearchedSessions = ReturnType<typeof conditionBindings> & { readonly projectId: string };

/** The sessions of a project that have a tag, those of a user, and the pinned ones: row numbers that an index gives at once. */
export const selectBy = {
  tag: `SELECT session FROM session_tags
    WHERE ${inProject} AND tag = @tag`,
  user: `SELECT id AS session FROM sessions WHERE ${inProject} AND user_id = @user`,
  pinned: `SELECT id AS session FROM sessions WHERE ${inProject} AND pinned = 1`,
} as const;
