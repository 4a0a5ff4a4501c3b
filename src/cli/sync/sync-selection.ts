// Selects the sessions of a sync. With tags, these are the sessions that have one of them on either side, even deleted ones. The removal of a tag
// therefore still reaches the other side, and a session that lost its tag on one side does not count as missing there.
import type { JoinedSession } from './sync-plan.ts';

/** No tags select every session. */
export function isSelected({ states }: JoinedSession, tags: readonly string[]): boolean {
  if (tags.length === 0) return true;
  return [states.local, states.remote].some(
    (state) => state.kind !== 'none' && state.session.tags.some((tag) => tags.includes(tag)),
  );
}
