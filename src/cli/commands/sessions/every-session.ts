// Every session of a listing, asked for page after page.
import type { Session } from '../../../service/session.ts';
import type { PageRequest, SessionQuery } from '../../../service/session-archive.ts';
import type { CliContext } from '../../context.ts';
import { largestPage } from './page-size.ts';

export async function* everySession(
  query: Omit<SessionQuery, keyof PageRequest>,
  context: CliContext,
): AsyncGenerator<Session, void> {
  const { home } = await context.open();
  let cursor: string | null = null;
  do {
    const page = { ...query, limit: largestPage, cursor };
    const { data } = await home.archive.listSessions(await context.call(), page);
    yield* data.items;
    cursor = data.next_cursor;
  } while (cursor !== null);
}
