// What the archive answers. It is Parley's own extension, so its shapes are known; only that they are there is checked.
import type { Page } from '../service/session.ts';
import type { BatchResult, SearchItem, SearchPage } from '../service/session-archive.ts';
import { fieldOf, objectOrNull, textOrNull } from './json-value.ts';

/** Null where the answer holds no list of records. */
export function pageOf<T>(body: unknown): Page<T> | null {
  const data = fieldOf(body, 'data');
  const items = recordsOf(data);
  return items === null
    ? null
    : { items: items as readonly T[], next_cursor: textOrNull(fieldOf(data, 'next_cursor')) };
}

/** Null where the answer holds no list of sessions with their hits. */
export function searchPageOf(body: unknown): SearchPage | null {
  const page = pageOf<SearchItem>(body);
  const isWhole = page?.items.every(
    (item) => objectOrNull(fieldOf(item, 'session')) !== null && recordsAt(item, 'hits') !== null,
  );
  if (page === null || isWhole !== true) return null;
  return { ...page, newest_only: fieldOf(fieldOf(body, 'data'), 'newest_only') === true };
}

/** Null where the answer does not hold a result for each id, in the order of the ids. */
export function batchOf<Status extends string>(
  body: unknown,
  sessionIds: readonly string[],
): BatchResult<Status> | null {
  const items = recordsOf(fieldOf(body, 'data'));
  const isWhole =
    items?.length === sessionIds.length &&
    items.every((item, index) => fieldOf(item, 'session_id') === sessionIds[index]);
  return isWhole ? { items: items as BatchResult<Status>['items'] } : null;
}

function recordsOf(data: unknown): readonly unknown[] | null {
  return recordsAt(data, 'items');
}

function recordsAt(data: unknown, name: string): readonly unknown[] | null {
  const items = fieldOf(data, name);
  return Array.isArray(items) && items.every((item) => objectOrNull(item) !== null) ? items : null;
}
