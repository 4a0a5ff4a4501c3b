// Which sessions a filter means: their ids, all of them, fixed by paging through the list before anything is done to them.
import type { CliContext } from '../../context.ts';
import type { IdList } from '../../session-batch/id-list.ts';
import { requireRoom } from './ids.ts';
import type { SessionFilter } from './session-filter.ts';

export async function collectMatching(
  filter: SessionFilter,
  list: IdList,
  limit: number,
  context: CliContext,
): Promise<void> {
  const { home } = await context.open();
  const { olderThan, titleMatch } = filter;
  const before = olderThan === null ? null : new Date(context.host.now() - olderThan).toISOString();
  let cursor: string | null = null;
  do {
    const { data } = await home.archive.listSessions(await context.call(), {
      limit: 200,
      cursor,
      title_match: titleMatch,
      updated_before: before,
      updated_after: null,
      deleted: false,
    });
    // A session that moves while it is paged through may come twice; that is no repetition of the user's.
    for (const { session_id } of data.items) {
      if (!list.has(session_id)) list.add(session_id);
      requireRoom(list, limit);
    }
    cursor = data.next_cursor;
  } while (cursor !== null);
}
