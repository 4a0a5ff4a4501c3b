// The queries of listings and searches at a server elsewhere. A server without the extension `order` keeps no session pinned, archived or
// tagged, and knows no condition on that.
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
import { hasExtension, requireExtension } from './required-extension.ts';

/** The default order is not sent, so that a server that knows no order also lists sessions. */
export async function listQuery(
  connection: RemoteConnection,
  call: Call,
  query: SessionQuery,
): Promise<Query> {
  const { sort, order, limit, cursor, id_suffix, deleted, ...given } = query;
  const archivedByDefault = deleted ? null : false;
  const { title_match: _, updated_before: __, updated_after: ___, user, ...conditions } = given;
  if (user !== null) await requireUsers(connection, call);
  await requireOrderFor(connection, call, { ...conditions, archived: given.archived || null });
  const isAny = given.archived === null && !deleted && !(await hasExtension(connection, call, 'order'));
  return {
    ...{ limit, cursor, id_suffix, deleted },
    ...conditionsQuery(isAny ? { ...given, archived: archivedByDefault } : given, archivedByDefault),
    sort: sort === lastActiveFirst.sort ? null : sort,
    order: order === lastActiveFirst.order ? null : order,
  };
}

export async function searchQuery(
  connection: RemoteConnection,
  call: Call,
  { query: q, limit, cursor, ...given }: SearchRequest,
): Promise<Query> {
  const conditions = { ...noConditions, ...given };
  const { user, ...ordering } = conditions;
  if (user !== null) await requireUsers(connection, call);
  await requireOrderFor(connection, call, ordering);
  return { q, limit, cursor, ...conditionsQuery(conditions, null) };
}

export function requireOrder(connection: RemoteConnection, call: Call): Promise<void> {
  return requireExtension(
    connection,
    call,
    'order',
    'keeps no order: no session is pinned, archived or tagged',
  );
}

export function requireUsers(connection: RemoteConnection, call: Call): Promise<void> {
  return requireExtension(connection, call, 'users', 'does not keep whose a session is');
}

/** Rejects with `UNSUPPORTED` if a condition is given, and the server knows none. */
async function requireOrderFor(
  connection: RemoteConnection,
  call: Call,
  conditions: Partial<SessionConditions>,
): Promise<void> {
  const names = Object.entries(conditions).flatMap(([name, value]) => (value === null ? [] : [name]));
  if (names.length === 0) return;
  const lacking = `does not choose sessions by these conditions (${names.join(', ')})`;
  await requireExtension(connection, call, 'order', lacking);
}
