// Which sessions a sync is about. With tags these are the sessions that have one of them in either place, also deleted ones. So the removal
// of a tag still reaches the other place, and a session that lost its tag in one place does not count as missing there.
import type { JoinedSession } from './sync-plan.ts';

/** No tags select every session. */
export function isSelected({ states }: JoinedSession, tags: readonly string[]): boolean {
  if (tags.length === 0) return true;
  return [states.local, states.remote].some(
    (state) => state.kind !== 'none' && state.session.tags.some((tag) => tags.includes(tag)),
  );
}
