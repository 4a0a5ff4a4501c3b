// The ids of the sessions that a filter matches, from the pages of search and list.
import { offers } from '../../../service/backend.ts';
import { ParleyError } from '../../../service/errors.ts';
import { maxPageItems } from '../../../service/limits.ts';
import { quoted } from '../../../service/quoted.ts';
import { anySession, firstCreatedFirst, type SessionConditions } from '../../../service/session-archive.ts';
import { yieldToEventLoop } from '../../../system/yield-to-event-loop.ts';
import { itemProgress } from '../../batch/batch-progress.ts';
import type { CliContext } from '../../context.ts';
import { everyPage } from '../../every-page.ts';
import type { IdList } from '../../session-batch/id-list.ts';
import { everySession } from './every-session.ts';
import { requireAtMost } from './ids.ts';
import { SearchProgress } from './search-progress.ts';
import { conditionsOf, type FilterChoice } from './session-filter.ts';

/** Adds the matching ids to the list, at most `max`. `archived` selects archived sessions if the filter does not say which. */
export async function collectMatching(
  list: IdList,
  { filter, archived, max }: { filter: FilterChoice; archived: boolean; max: number },
  context: CliContext,
): Promise<void> {
  // A session that changes its position during paging may appear twice. It is not a duplicate of the user.
  for await (const id of matchingIds(filter, archived, context)) {
    if (!list.has(id)) list.add(id);
    requireAtMost(list.count, max, '--max');
  }
}

/** Yields the matching ids. A terminal shows how many were found so far. */
export async function* matchingIds(
  filter: FilterChoice,
  archived: boolean,
  context: CliContext,
): AsyncGenerator<string, void> {
  // A search shows its own progress and finds all its sessions at once.
  const progress = filter.query === null ? itemProgress(context, 'found', null) : null;
  let count = 0;
  try {
    for await (const id of findIds(filter, archived, context)) {
      progress?.finish('found');
      count += 1;
      if (count % maxPageItems === 0) {
        await yieldToEventLoop();
        context.signal.throwIfAborted();
      }
      yield id;
    }
  } finally {
    progress?.stop();
  }
}

async function* findIds(
  { conditions: flags, query, all }: FilterChoice,
  archived: boolean,
  context: CliContext,
): AsyncGenerator<string, void> {
  const conditions = conditionsOf(flags, context.host.now(), all ? null : archived);
  if (query === null) return yield* listIds(conditions, context);
  const { backend } = await context.open();
  if (backend.extensions === null) await backend.service.verify(await context.call());
  if (offers(backend, 'order')) return yield* await searchIds(query, conditions, context);
  // A server that keeps no order searches in all sessions.
  const hits = await searchIds(query, {}, context);
  if (Object.keys(flags).length === 0) return yield* hits;
  for await (const id of listIds(conditions, context)) if (hits.has(id)) yield id;
}

/**
 * Says how many archived sessions would match a filter that leaves them out; null if none. Counts one page at most, because a large number
 * helps nobody more.
 */
export async function archivedNotice(
  { conditions: flags, query, all }: FilterChoice,
  context: CliContext,
): Promise<string | null> {
  const { backend } = await context.open();
  if (all || flags.archived !== undefined || !offers(backend, 'order')) return null;
  const conditions = conditionsOf(flags, context.host.now(), true);
  const page = { limit: maxPageItems, cursor: null };
  const { items, next_cursor } = (
    query === null
      ? await backend.archive.listSessions(await context.call(), { ...anySession, ...conditions, ...page })
      : await backend.archive.searchSessions(await context.call(), { ...conditions, query, ...page })
  ).data;
  if (items.length === 0) return null;
  const count = next_cursor === null ? items.length : `more than ${items.length}`;
  return `Archived sessions are left out; ${count} would match. To select them instead: --archived`;
}

async function* listIds(conditions: SessionConditions, context: CliContext): AsyncGenerator<string, void> {
  const query = {
    ...anySession,
    ...conditions,
    // With `updated_before`, any order is stable: a session that becomes active during paging no longer matches.
    ...(conditions.updated_before === null && firstCreatedFirst),
  };
  for await (const { session_id } of everySession(query, context)) yield session_id;
}

async function searchIds(
  query: string,
  conditions: Partial<SessionConditions>,
  context: CliContext,
): Promise<ReadonlySet<string>> {
  const { backend } = await context.open();
  const ids = new Set<string>();
  const progress = new SearchProgress(context);
  const ask = async (cursor: string | null) =>
    backend.archive.searchSessions(progress.watch(await context.call()), {
      ...conditions,
      query,
      limit: maxPageItems,
      cursor,
    });
  try {
    for await (const { data } of everyPage(ask)) {
      // The search has not found all matches, but the user means all of them.
      if (data.newest_only) throw tooManyHits(query);
      for (const { session } of data.items) ids.add(session.session_id);
    }
  } finally {
    progress.stop();
  }
  return ids;
}

function tooManyHits(query: string): ParleyError {
  return new ParleyError('USAGE', `Too many messages contain ${quoted(query)} to search them all.`, {
    hint: 'Nothing was done. Search for more words, or filter only by --older-than and --title-match.',
  });
}
