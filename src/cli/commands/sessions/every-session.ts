// Reads every session of a listing, page by page.

import { maxPageItems } from '../../../service/limits.ts';
import type { Session } from '../../../service/session.ts';
import type { PageRequest, SessionQuery } from '../../../service/session-archive.ts';
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
