// Which sessions a filter means: their ids, all of them, fixed by paging through search and list before anything is done to them.
import { ParleyError } from '../../../service/errors.ts';
import { largestPage } from '../../../service/limits.ts';
import { quoted } from '../../../service/quoted.ts';
import { anySession, firstCreatedFirst } from '../../../service/session-archive.ts';
import { timeOf } from '../../age.ts';
import type { CliContext, ServiceAccess } from '../../context.ts';
import { everyPage } from '../../every-page.ts';
import type { IdList } from '../../session-batch/id-list.ts';
import { everySession } from './every-session.ts';
import { requireRoom } from './ids.ts';
import type { FilterChoice } from './session-filter.ts';

export async function collectMatching(
  filter: FilterChoice,
  list: IdList,
  limit: number,
  context: CliContext,
): Promise<void> {
  // A session that moves while it is paged through may come twice; that is no repetition of the user's.
  const add = (id: string) => {
    if (!list.has(id)) list.add(id);
    requireRoom(list.count, limit);
  };
  const { query, olderThan, titleMatch } = filter;
  if (query === null) return listed(filter, add, context);
  const found = await searched(query, context);
  if (olderThan === null && titleMatch === null) found.forEach(add);
  else await listed(filter, (id) => found.has(id) && add(id), context);
}

async function listed(
  { olderThan, titleMatch }: FilterChoice,
  take: (id: string) => void,
  context: CliContext,
): Promise<void> {
  const before = olderThan === null ? null : timeOf(olderThan, context.host.now());
  const query = {
    ...anySession,
    // With --older-than the order by last activity will do: a session that becomes active meanwhile no longer matches.
    ...(before === null && firstCreatedFirst),
    title_match: titleMatch,
    updated_before: before,
  };
  for await (const { session_id } of everySession(query, context)) take(session_id);
}

async function searched(query: string, context: ServiceAccess): Promise<ReadonlySet<string>> {
  const { backend } = await context.open();
  const found = new Set<string>();
  const ask = async (cursor: string | null) =>
    backend.archive.searchSessions(await context.call(), { query, limit: largestPage, cursor });
  for await (const { data } of everyPage(ask)) {
    // A part of what is meant must not pass for all of it.
    if (data.newest_only) throw tooManyHits(query);
    for (const { session } of data.items) found.add(session.session_id);
  }
  return found;
}

function tooManyHits(query: string): ParleyError {
  return new ParleyError('USAGE', `More messages have ${quoted(query)} than a search looks through.`, {
    hint: 'Nothing was done. Search for more words at once, or choose by --older-than and --title-match alone.',
  });
}
