// The ordering of sessions: pinned, archived, and tags. The column `tags` of a session is what is shown; the table `session_tags` holds the
// same tags for the filter by a tag. The rows are locked before they are read, so the rule sees the current state.
import type { Session } from '../../service/session.ts';
import type { OrderedItem, SessionChanges } from '../../service/session-archive.ts';
import type { OrderChange, OrderedSession } from '../order-change.ts';
import { tagsText, toOrdering } from '../rows.ts';
import type { StoreRules } from '../store-rules.ts';
import { fieldsOf } from './columns.ts';
import type { Ask } from './connection-pool.ts';
import { changeTexts, ofProject } from './sessions.ts';
import { statement } from './statement.ts';

// In the order of their numbers, so that two calls on the same sessions cannot deadlock.
const lock = statement(`
  SELECT session.id, session.session_id, session.pinned, session.archived, session.tags
  FROM parley.sessions AS session
  WHERE ${ofProject}
    AND session.session_id = ANY ($2::text[]) AND session.deleted_at IS NULL
  ORDER BY session.id FOR UPDATE`);
const write = statement(`
  UPDATE parley.sessions AS session SET pinned = input.pinned, archived = input.archived, tags = input.tags
  FROM unnest($1::bigint[], $2::boolean[], $3::boolean[], $4::text[]) AS input (id, pinned, archived, tags)
  WHERE session.id = input.id`);
const removeTags = statement(`
  DELETE FROM parley.session_tags AS given USING unnest($1::bigint[], $2::text[]) AS input (session, tags)
  WHERE given.session = input.session
    AND (input.tags IS NULL OR NOT input.tags::jsonb ? given.tag)`);
const addTags = statement(`
  INSERT INTO parley.session_tags (session, tag, project)
  SELECT session.id, given.tag, session.project
  FROM unnest($1::bigint[], $2::text[]) AS input (id, tags)
  JOIN parley.sessions AS session ON session.id = input.id
  CROSS JOIN LATERAL jsonb_array_elements_text(input.tags::jsonb) AS given (tag)
  ON CONFLICT DO NOTHING`);

interface StoredRow {
  readonly id: number;
  readonly session_id: string;
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly tags: string | null;
}

interface Ordering {
  readonly change: OrderChange;
  /** The status of a session that now is as asked. */
  readonly done: string;
  readonly rules: StoreRules;
}

/** `ask` is that of a transaction. */
export async function orderSessions(
  ask: Ask,
  projectId: string,
  sessionIds: readonly string[],
  { change, done, rules }: Ordering,
): Promise<readonly OrderedItem[]> {
  const rows = await ask<StoredRow>(lock, [projectId, sessionIds]);
  const results = new Map<string, OrderedItem>();
  const changed: { readonly id: number; readonly next: OrderedSession }[] = [];
  for (const { id, session_id, ...current } of rows) {
    const next = rules.order(toOrdering(current), change);
    results.set(session_id, {
      ...{ session_id, status: next === null ? 'too_many_tags' : done, changed: next?.changed ?? [] },
    });
    if (next !== null && next.changed.length > 0) changed.push({ id, next });
  }
  if (changed.length > 0) await writeAll(ask, changed, change.tags !== undefined);
  const again = new Set<string>();
  return sessionIds.map((session_id) => {
    const item = results.get(session_id) ?? { session_id, status: 'not_found', changed: [] };
    // The second occurrence of an id finds all done.
    const isAgain = again.has(session_id);
    again.add(session_id);
    return isAgain ? { ...item, changed: [] } : item;
  });
}

async function writeAll(
  ask: Ask,
  changed: readonly { readonly id: number; readonly next: OrderedSession }[],
  withTags: boolean,
): Promise<void> {
  const ids = changed.map(({ id }) => id);
  const orderings = changed.map(({ next }) => next.ordering);
  const tags = orderings.map((ordering) => tagsText(ordering.tags));
  await ask(write, [ids, ...fieldsOf(orderings, ['pinned', 'archived']), tags]);
  if (!withTags) return;
  await ask(removeTags, [ids, tags]);
  await ask(addTags, [ids, tags]);
}

/** Changes a session, its ordering included. `ask` is that of a transaction. */
export async function changeSession(
  ask: Ask,
  projectId: string,
  sessionId: string,
  changes: SessionChanges,
  rules: StoreRules,
): Promise<Session | null> {
  await orderSessions(ask, projectId, [sessionId], { change: changes, done: 'done', rules });
  return changeTexts(ask, projectId, sessionId, changes);
}
