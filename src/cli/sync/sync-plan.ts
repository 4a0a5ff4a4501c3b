// What a sync does with a session, from what the listings of the two places say. The rules are those of docs/sync.md.
import type { Session } from '../../service/session.ts';
import { type Agreement, areAlike, isAsAgreed, lineOf } from './agreement.ts';
import { otherSide, type SideName } from './side-name.ts';

/** How a place has a session: not at all, deleted, or active. */
export type SideState =
  | { readonly kind: 'none' }
  | { readonly kind: 'deleted' | 'active'; readonly session: Session };

export type SyncStep =
  | { readonly kind: 'none' }
  /** Both have it in the same state. */
  | { readonly kind: 'agree'; readonly session: Session; readonly deleted: boolean }
  /** The whole session goes to a place that lacks it. */
  | { readonly kind: 'copy'; readonly to: SideName }
  | { readonly kind: 'delete'; readonly at: SideName; readonly session: Session }
  /** `restoreAt`: it is deleted there, and is restored first. */
  | { readonly kind: 'merge'; readonly restoreAt: SideName | null };

export interface JoinedSession {
  readonly session_id: string;
  readonly states: Readonly<Record<SideName, SideState>>;
  readonly agreed: Agreement | null;
}

/**
 * A deletion goes to the other place, unless the session was changed there since they agreed on it, or is another one there. A session that
 * was there and is gone without a trace was purged, and counts as deleted.
 */
export function planSession({ states }: JoinedSession, agreed: Agreement | null): SyncStep {
  const { local, remote } = states;
  if (local.kind === 'active' && remote.kind === 'active')
    return stepForBoth(local.session, remote.session, agreed);
  const active: SideName | null =
    local.kind === 'active' ? 'local' : remote.kind === 'active' ? 'remote' : null;
  if (active === null) return stepForGone(states);
  const [here, there] = [states[active], states[otherSide(active)]];
  if (here.kind === 'none') return { kind: 'none' };
  const { session } = here;
  const isUnchanged = agreed !== null && !agreed.deleted && isAsAgreed(session, agreed);
  const isDeleted: SyncStep = { kind: 'delete', at: active, session };
  if (there.kind === 'none') return isUnchanged ? isDeleted : { kind: 'copy', to: otherSide(active) };
  const isSame = agreed === null && areAlike(session, there.session);
  return isUnchanged || isSame ? isDeleted : { kind: 'merge', restoreAt: otherSide(active) };
}

/**
 * Two that look alike are compared by their messages unless both are as agreed: where clocks differ, different turns may leave the same time
 * of the last activity.
 */
function stepForBoth(local: Session, remote: Session, agreed: Agreement | null): SyncStep {
  const isKnown = agreed === null ? local.message_count === 0 : agreed.line === lineOf(local);
  return areAlike(local, remote) && isKnown
    ? { kind: 'agree', session: local, deleted: false }
    : { kind: 'merge', restoreAt: null };
}

function stepForGone({ local, remote }: JoinedSession['states']): SyncStep {
  const known = local.kind === 'deleted' ? local : remote.kind === 'deleted' ? remote : null;
  return known === null ? { kind: 'none' } : { kind: 'agree', session: known.session, deleted: true };
}
