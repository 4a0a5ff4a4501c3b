// Reads every session of a listing, page by page.
import { maxPageItems } from '../../../service/limits.ts';
import type { Session } from '../../../service/session.ts';
import {
  anySession,
  firstCreatedFirst,
  type PageRequest,
  type SessionQuery,
} from '../../../service/session-archive.ts';
import type { ServiceAccess } from '../../context.ts';
import { everyPage } from '../../every-page.ts';

export async function* everySession(
  query: Omit<SessionQuery, keyof PageRequest>,
  context: ServiceAccess,
): AsyncGenerator<Session, void> {
  const { backend } = await context.open();
  const ask = async (cursor: string | null) =>
    backend.archive.listSessions(await context.call(), { ...query, limit: maxPageItems, cursor });
  for await (const { data } of everyPage(ask)) yield* data.items;
}

/** Every active session, archived ones included, in the order of creation. Paging in this order misses no session that becomes active. */
export function everyActiveSession(context: ServiceAccess): AsyncGenerator<Session, void> {
  return everySession({ ...anySession, ...firstCreatedFirst }, context);
}
