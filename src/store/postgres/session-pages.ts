// Pages of sessions. A page begins with an index search for the end of the last page, so the thousandth page costs as much as the first.
import { pageBytes } from '../../service/limits.ts';
import type { Session } from '../../service/session.ts';
import type { SessionOrder } from '../../service/session-archive.ts';
import { PageBudget, takeWhile, textsOf } from '../page-budget.ts';
import type { SessionRow } from '../rows.ts';
import { toSession } from '../rows.ts';
import { type ListedState, type Rows, type SessionFilter, stateOf } from '../session-filters.ts';
import type { Ask } from './connection-pool.ts';
import { conditionsFrom, conditionValues, isNarrowed } from './session-conditions.ts';
import { projectNumber, sessionColumns, settingsBytes } from './sessions.ts';
import { plannedAnew, statement } from './statement.ts';

const columnOf = { updated: 'updated_at', created: 'created_at' } as const;

const listed = 'session.deleted_at IS NULL AND NOT session.archived';
const archived = 'session.deleted_at IS NULL AND session.archived';

const tagged = `
  SELECT chosen.session FROM parley.session_tags AS chosen
  WHERE chosen.project = ${projectNumber} AND chosen.tag = $11`;

// The ends of the ids are tested in an index alone, which is several times as fast as reading the rows.
const byEndOfId = `AND session.session_id = ANY (ARRAY(
        SELECT ending.session_id FROM parley.sessions AS ending
        WHERE ending.project = ${projectNumber}
          AND right(ending.session_id, length($13::text)) = $13::text))`;

// The index searches for one bound over two columns, where the page begins. The other conditions are tested row by row. The database does
// not send settings that cannot fit on the page: a row is left out if the settings before it have more than `pageBytes` bytes. As JSON they
// take at least as many. {@link PageBudget} then finds the exact end of the page.
function inOrder(sort: SessionOrder['sort'], order: SessionOrder['order'], state: ListedState) {
  const column = `session.${columnOf[sort]}`;
  const ordered = `ORDER BY ${column} ${order}, session.session_id ${order}`;
  // Each index is read as far as one page needs. With the limit outside of the sum alone, the database may sort all rows that follow.
  const page = (conditions: string) => {
    const of = (condition: string) => `
      (SELECT session.* FROM parley.sessions AS session
      WHERE session.project = ${projectNumber} AND ${condition}
        AND (${column}, session.session_id) ${order === 'desc' ? '<' : '>'} ($2::bigint, $3::text) ${conditions}
      ${ordered} LIMIT $4)`;
    const rows =
      state === 'active'
        ? `${of(listed)} UNION ALL ${of(archived)}`
        : of({ listed, archived, deleted: 'session.deleted_at IS NOT NULL' }[state]);
    return `
    SELECT ${sessionColumns} FROM (
      SELECT session.*, sum(${settingsBytes}) OVER (${ordered}) - ${settingsBytes} AS bytes
      FROM (${rows}) AS session ${ordered} LIMIT $4
    ) AS session WHERE session.bytes <= ${pageBytes} ${ordered}`;
  };
  const conditions = conditionsFrom(5);
  return {
    every: statement(page('AND session.updated_at < $5::bigint AND session.updated_at >= $6::bigint')),
    matching: plannedAnew(page(conditions)),
    tagged: plannedAnew(page(`${conditions} AND session.id IN (${tagged})`)),
    ofUser: plannedAnew(page(`${conditions} AND session.user_id = $12`)),
    pinned: plannedAnew(page(`${conditions} AND session.pinned`)),
    ending: plannedAnew(page(`${conditions} ${byEndOfId}`)),
  } as const;
}

const byState = (sort: SessionOrder['sort'], order: SessionOrder['order']) =>
  ({
    listed: inOrder(sort, order, 'listed'),
    archived: inOrder(sort, order, 'archived'),
    active: inOrder(sort, order, 'active'),
    deleted: inOrder(sort, order, 'deleted'),
  }) as const;
const listings = {
  updated: { desc: byState('updated', 'desc'), asc: byState('updated', 'asc') },
  created: { desc: byState('created', 'desc'), asc: byState('created', 'asc') },
} as const;

export async function listSessions(
  ask: Ask,
  projectId: string,
  filter: SessionFilter,
): Promise<Rows<Session>> {
  const { sort, order, limit, idSuffix } = filter;
  const { MIN_SAFE_INTEGER, MAX_SAFE_INTEGER } = Number;
  const begin = filter.after ?? {
    time: order === 'desc' ? MAX_SAFE_INTEGER : MIN_SAFE_INTEGER,
    sessionId: '',
  };
  const listing = listings[sort][order][stateOf(filter)];
  const values = [projectId, begin.time, begin.sessionId, limit + 1, ...conditionValues(filter)];
  const part = partOf(filter);
  const rows =
    part === 'every'
      ? await ask<SessionRow>(listing.every, values.slice(0, 6))
      : await ask<SessionRow>(listing[part], part === 'ending' ? [...values, idSuffix] : values);
  const budget = new PageBudget(1);
  const items = takeWhile(rows.slice(0, limit), (row) => budget.take(...textsOf(row))).map(toSession);
  return { items, hasMore: items.length < rows.length };
}

function partOf(filter: SessionFilter): 'every' | 'matching' | 'tagged' | 'ofUser' | 'pinned' | 'ending' {
  if (filter.idSuffix !== null) return 'ending';
  if (filter.tag !== null) return 'tagged';
  if (filter.user !== null) return 'ofUser';
  if (filter.pinned) return 'pinned';
  // The state of an active session says whether it is archived.
  return isNarrowed(filter.deleted ? filter : { ...filter, archived: null }) ? 'matching' : 'every';
}
