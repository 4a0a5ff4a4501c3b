// The ordering of sessions: pinned, archived, and tags. The column `tags` of a session is what is shown; the table `session_tags` holds the
// same tags for the filter by a tag. Both are written in one transaction.
import type { Session, SessionOrdering } from '../../service/session.ts';
import type { OrderedItem, SessionChanges } from '../../service/session-archive.ts';
import { changesOrdering, type OrderChange } from '../order-change.ts';
import { tagsText, toOrdering } from '../rows.ts';
import type { StoreRules } from '../store-rules.ts';
import type { Connection } from './connection.ts';
import { changeTexts, thisSession } from './sessions.ts';

export const orderingStatements = {
  current: `SELECT id, pinned, archived, tags FROM sessions WHERE ${thisSession} AND deleted_at IS NULL`,
} as const;

/** `@session` is a row number that a statement with the project's id has returned. */
const writeOrdering = `
  UPDATE sessions SET pinned = @pinned, archived = @archived, tags = @tags WHERE id = @session`;
const removeTags = 'DELETE FROM session_tags WHERE session = @session';
const addTags = `
  INSERT INTO session_tags (session, tag, project)
  SELECT sessions.id, given.value, sessions.project FROM sessions CROSS JOIN json_each(sessions.tags) AS given
  WHERE sessions.id = @session`;

interface StoredRow {
  readonly id: number;
  readonly pinned: number;
  readonly archived: number;
  readonly tags: string | null;
}

export function orderSessions(
  connection: Connection,
  projectId: string,
  sessionIds: readonly string[],
  {
    change,
    done,
    rules,
  }: { readonly change: OrderChange; readonly done: string; readonly rules: StoreRules },
): readonly OrderedItem[] {
  return sessionIds.map((session_id) => {
    const row = connection.get<StoredRow>(orderingStatements.current, { projectId, sessionId: session_id });
    if (row === undefined) return { session_id, status: 'not_found', changed: [] };
    const current = toOrdering(row);
    const ordered = rules.order(current, change);
    if (ordered === null) return { session_id, status: 'too_many_tags', changed: [] };
    if (ordered.changed.length > 0) write(connection, row.id, current, ordered.ordering);
    return { session_id, status: done, changed: ordered.changed };
  });
}

/** The rest of a change is in sessions.ts. */
export function changeSession(
  connection: Connection,
  projectId: string,
  sessionId: string,
  changes: SessionChanges,
  rules: StoreRules,
): Session | null {
  if (changesOrdering(changes))
    orderSessions(connection, projectId, [sessionId], { change: changes, done: 'done', rules });
  return changeTexts(connection, projectId, sessionId, changes);
}

function write(
  connection: Connection,
  session: number,
  current: SessionOrdering,
  next: SessionOrdering,
): void {
  const values = orderingBindings(next);
  const { tags } = values;
  connection.run(writeOrdering, { session, ...values });
  if (tags !== tagsText(current.tags)) replaceTags(connection, session);
}

export function orderingBindings({ pinned, archived, tags }: SessionOrdering) {
  return { pinned: Number(pinned), archived: Number(archived), tags: tagsText(tags) };
}

/** Replaces the rows for the tags of a session. */
export function replaceTags(connection: Connection, session: number): void {
  connection.run(removeTags, { session });
  keepTags(connection, session);
}

/** Makes the rows for the tags of a session that has no such rows yet. */
export function keepTags(connection: Connection, session: number): void {
  connection.run(addTags, { session });
}
