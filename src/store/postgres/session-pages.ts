// Pages of sessions. A page begins with an index search for the end of the last page, so the thousandth page costs as much as the first.
import { pageBytes } from '../../service/limits.ts';
import type { Session } from '../../service/session.ts';
import type { SessionOrder } from '../../service/session-archive.ts';
import { PageRoom, textsOf } from '../page-room.ts';
import type { SessionRow } from '../rows.ts';
import { toSession } from '../rows.ts';
import type { Rows, SessionFilter } from '../session-filters.ts';
import type { Ask } from './connection-pool.ts';
import { sessionColumns, settingsBytes } from './sessions.ts';
import { statement } from './statement.ts';
import { titleRegex } from './title-regex.ts';

const columnOf = { updated: 'updated_at', created: 'created_at' } as const;

// The index searches for one bound over two columns, where the page begins. The other conditions are tested row by row. The database does not
// send settings that cannot fit on the page: a row is left out if the settings before it have more than `pageBytes` bytes. As JSON they take
// at least as many. {@link PageRoom} then finds the exact end of the page.
function inOrder(sort: SessionOrder['sort'], order: SessionOrder['order'], state: string, title: string) {
  const column = `session.${columnOf[sort]}`;
  const ordered = `ORDER BY ${column} ${order}, session.session_id ${order}`;
  return statement(`
    SELECT ${sessionColumns} FROM (
      SELECT session.*, sum(${settingsBytes}) OVER (${ordered}) - ${settingsBytes} AS bytes
      FROM parley.sessions AS session
      WHERE session.project = (SELECT id FROM parley.projects WHERE project_id = $1) AND ${state}
        AND (${column}, session.session_id) ${order === 'desc' ? '<' : '>'} ($2::bigint, $3::text)
        AND session.updated_at >= $4::bigint AND session.updated_at < $5::bigint ${title}
      ${ordered} LIMIT $6
    ) AS session WHERE session.bytes <= ${pageBytes} ${ordered}`);
}

const byTitle = (sort: SessionOrder['sort'], order: SessionOrder['order'], state: string) =>
  ({
    every: inOrder(sort, order, state, ''),
    matching: inOrder(sort, order, state, 'AND session.title ~ $7::text'),
  }) as const;
const byState = (sort: SessionOrder['sort'], order: SessionOrder['order']) =>
  ({
    active: byTitle(sort, order, 'session.deleted_at IS NULL'),
    deleted: byTitle(sort, order, 'session.deleted_at IS NOT NULL'),
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
  const { sort, order, deleted, limit, titleMatch } = filter;
  const before = filter.updatedBefore ?? Number.MAX_SAFE_INTEGER;
  const after = filter.updatedAfter ?? Number.MIN_SAFE_INTEGER;
  const { MIN_SAFE_INTEGER, MAX_SAFE_INTEGER } = Number;
  const begin = filter.after ?? {
    time: order === 'desc' ? MAX_SAFE_INTEGER : MIN_SAFE_INTEGER,
    sessionId: '',
  };
  const listing = listings[sort][order][deleted ? 'deleted' : 'active'];
  const values = [projectId, begin.time, begin.sessionId, after, before, limit + 1];
  const rows =
    titleMatch === null
      ? await ask<SessionRow>(listing.every, values)
      : await ask<SessionRow>(listing.matching, [...values, titleRegex(titleMatch)]);
  const room = new PageRoom(1);
  const end = rows.findIndex((row, index) => index === limit || !room.take(...textsOf(row)));
  return { items: (end < 0 ? rows : rows.slice(0, end)).map(toSession), hasMore: end >= 0 };
}
