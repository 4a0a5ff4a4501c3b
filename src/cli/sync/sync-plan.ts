// Plans the sync of a session from its state in the listings of both sides. docs/sync.md has the rules.
import type { Session } from '../../service/session.ts';
import { type Agreement, lineOf, lookEqual, matchesAgreement } from './agreement.ts';
import { otherSide, type SideName } from './side-name.ts';

/** The state of a session on one side. */
export type SideState =
  | { readonly kind: 'none' }
  | { readonly kind: 'deleted' | 'active'; readonly session: Session };

export type SyncStep =
  | { readonly kind: 'none' }
  /** Both sides have the session in the same state. */
  | { readonly kind: 'agree'; readonly session: Session; readonly deleted: boolean }
  /** Copy the session to the side that lacks it. */
  | { readonly kind: 'copy'; readonly to: SideName }
  | { readonly kind: 'delete'; readonly at: SideName; readonly session: Session }
  /** `restoreAt` is the side where the session is deleted and must be restored first. */
  | { readonly kind: 'merge'; readonly restoreAt: SideName | null };

export interface JoinedSession {
  readonly session_id: string;
  readonly states: Readonly<Record<SideName, SideState>>;
  readonly agreed: Agreement | null;
}

/**
 * A deletion applies to the other side, too, unless the session was changed there since the agreement, or is a different one. A session that
 * is gone without a trace was purged, and counts as deleted.
 */
export function planSession({ states }: JoinedSession, agreed: Agreement | null): SyncStep {
  const { local, remote } = states;
  if (local.kind === 'active' && remote.kind === 'active')
    return stepForBoth(local.session, remote.session, agreed);
  const sides: readonly SideName[] = ['local', 'remote'];
  const active = sides.find((side) => states[side].kind === 'active') ?? null;
  if (active === null) return stepForGone(states);
  const [here, there] = [states[active], states[otherSide(active)]];
  if (here.kind === 'none') return { kind: 'none' };
  const { session } = here;
  const isUnchanged = agreed !== null && !agreed.deleted && matchesAgreement(session, agreed);
  const deletion: SyncStep = { kind: 'delete', at: active, session };
  if (there.kind === 'none') return isUnchanged ? deletion : { kind: 'copy', to: otherSide(active) };
  const isSame = agreed === null && lookEqual(session, there.session);
  return isUnchanged || isSame ? deletion : { kind: 'merge', restoreAt: otherSide(active) };
}

/**
 * Sessions that look equal are compared by their messages unless both match the agreement: with differing clocks, different turns may have the
 * same time.
 */
function stepForBoth(local: Session, remote: Session, agreed: Agreement | null): SyncStep {
  const isKnown = agreed === null ? local.message_count === 0 : agreed.line === lineOf(local);
  return lookEqual(local, remote) && isKnown
    ? { kind: 'agree', session: local, deleted: false }
    : { kind: 'merge', restoreAt: null };
}

function stepForGone({ local, remote }: JoinedSession['states']): SyncStep {
  for (const state of [local, remote])
    if (state.kind === 'deleted') return { kind: 'agree', session: state.session, deleted: true };
  return { kind: 'none' };
}
