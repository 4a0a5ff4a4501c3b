// Builds the queries of listings and searches at a remote server. A server without the extension `order` has no pinned, archived or tagged
// sessions, and no filters for them.
import type { Call } from '../service/call.ts';
import {
  lastActiveFirst,
  noConditions,
  type SearchRequest,
  type SessionConditions,
  type SessionQuery,
} from '../service/session-archive.ts';
import type { Query } from '../wire/operation-path.ts';
import { conditionsQuery } from '../wire/session-filter.ts';
import type { RemoteConnection } from './remote-connection.ts';

/** Leaves out the default order, so that a server without orders also lists sessions. */
export async function listQuery(
  connection: RemoteConnection,
  call: Call,
  query: SessionQuery,
): Promise<Query> {
  const { sort, order, limit, cursor, id_suffix, deleted, ...conditions } = query;
  const { title_match: _, updated_before: __, updated_after: ___, user, archived, ...ordering } = conditions;
  if (user !== null) await requireUsers(connection, call);
  await requireOrderFor(connection, call, { ...ordering, archived: archived || null });
  const archivedByDefault = deleted ? null : false;
  // A server without the extension lists all sessions anyway, so the request leaves the condition out.
  const isLeftOut = archived === null && !deleted && !(await connection.hasExtension(call, 'order'));
  const condition = isLeftOut ? archivedByDefault : archived;
  return {
    limit,
    cursor,
    id_suffix,
    deleted,
    ...conditionsQuery({ ...conditions, archived: condition }, archivedByDefault),
    sort: sort === lastActiveFirst.sort ? null : sort,
    order: order === lastActiveFirst.order ? null : order,
  };
}

export async function searchQuery(
  connection: RemoteConnection,
  call: Call,
  { query: q, limit, cursor, ...partial }: SearchRequest,
): Promise<Query> {
  const conditions = { ...noConditions, ...partial };
  const { user, ...ordering } = conditions;
  if (user !== null) await requireUsers(connection, call);
  await requireOrderFor(connection, call, ordering);
  return { q, limit, cursor, ...conditionsQuery(conditions, null) };
}

export function requireOrder(connection: RemoteConnection, call: Call): Promise<void> {
  return connection.requireExtension(call, 'order', 'cannot pin, archive or tag sessions');
}

export function requireUsers(connection: RemoteConnection, call: Call): Promise<void> {
  return connection.requireExtension(call, 'users', 'cannot store the user of a session');
}

/** Rejects with `UNSUPPORTED` if there is a condition and the server supports none. */
async function requireOrderFor(
  connection: RemoteConnection,
  call: Call,
  conditions: Partial<SessionConditions>,
): Promise<void> {
  const names = Object.entries(conditions).flatMap(([name, value]) => (value === null ? [] : [name]));
  if (names.length === 0) return;
  await connection.requireExtension(call, 'order', `cannot filter sessions by: ${names.join(', ')}`);
}
