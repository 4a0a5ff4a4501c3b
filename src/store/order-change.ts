// A change of the ordering of sessions, and what it does to one session.
import { noOrdering, type SessionOrdering } from '../service/session.ts';
import type { OrderedItem, SessionChanges, TagChange } from '../service/session-archive.ts';

/** What is to change in the ordering of sessions. A field that is missing stays as it is. */
export interface OrderChange {
  readonly pinned?: boolean;
  readonly archived?: boolean;
  /** All tags from now on, or those that are added and removed. */
  readonly tags?: readonly string[] | TagChange;
}

/** The ordering of a session after a change, and the names of the changed fields, as {@link OrderedItem} has them. */
export interface OrderedSession {
  readonly ordering: SessionOrdering;
  readonly changed: readonly string[];
}

/** True if the changes of a session change its ordering, too. */
export function changesOrdering(changes: SessionChanges): boolean {
  return Object.keys(noOrdering).some((name) => Object.hasOwn(changes, name));
}
