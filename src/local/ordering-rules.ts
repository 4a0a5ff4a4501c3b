// The ordering of a session after a change, as every store asks for it inside its transaction.
import { defaultLimits } from '../service/limits.ts';
import type { SessionOrdering } from '../service/session.ts';
import type { TagChange } from '../service/session-archive.ts';
import { sortedTags, tagForm } from '../service/sorted-tags.ts';
import type { OrderChange, OrderedSession } from '../store/order-change.ts';

/** Null if the session would have too many tags. A session that has too many already may lose some. */
export function orderedSession(current: SessionOrdering, change: OrderChange): OrderedSession | null {
  const { pinned = current.pinned, archived = current.archived } = change;
  const tags = change.tags === undefined ? current.tags : changedTags(current.tags, change.tags);
  const gained = tags.filter((tag) => !current.tags.includes(tag));
  if (gained.length > 0 && tags.length > defaultLimits.tags) return null;
  const lost = current.tags.filter((tag) => !tags.includes(tag));
  const changed = [
    ...(pinned === current.pinned ? [] : ['pinned']),
    ...(archived === current.archived ? [] : ['archived']),
    ...sortedTags([...gained, ...lost]),
  ];
  return { ordering: { pinned, archived, tags }, changed };
}

function changedTags(current: readonly string[], change: readonly string[] | TagChange): readonly string[] {
  if (!('add' in change)) return sortedTags(change);
  const removed = change.remove.map(tagForm);
  return sortedTags([...current, ...change.add].filter((tag) => !removed.includes(tagForm(tag))));
}
