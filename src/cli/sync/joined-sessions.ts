// Joins the listings of two places and what they agreed on, session by session, in one order. Only a page of each is held.
import type { Session } from '../../service/session.ts';
import type { Agreement } from './agreement.ts';
import { comparePlaces, type Side } from './side.ts';
import type { SideName } from './side-name.ts';
import type { JoinedSession, SideState } from './sync-plan.ts';

type Placed = Pick<Session, 'created_at' | 'session_id'>;

export async function* joinedSessions(
  sides: Readonly<Record<SideName, Side>>,
  agreements: AsyncIterator<Agreement, void>,
): AsyncGenerator<JoinedSession, void> {
  const reader = <T extends Placed>(from: AsyncIterator<T, void>) => new Reader(from);
  const lists = {
    local: { active: reader(sides.local.list(false)), deleted: reader(sides.local.list(true)) },
    remote: { active: reader(sides.remote.list(false)), deleted: reader(sides.remote.list(true)) },
  };
  const known = reader(agreements);
  const readers = [known, ...Object.values(lists).flatMap(({ active, deleted }) => [active, deleted])];
  for (;;) {
    await Promise.all(readers.map((each) => each.fill()));
    const places = readers.flatMap(({ head }) => (head === null ? [] : [head as Placed]));
    if (places.length === 0) return;
    const place = places.reduce((least, other) => (comparePlaces(other, least) < 0 ? other : least));
    const agreed = known.take(place);
    const stateOf = (side: SideName): SideState => {
      const deleted = lists[side].deleted.take(place);
      // A session that was deleted or restored between the two listings may be in both.
      const active = lists[side].active.take(place);
      if (active !== null) return { kind: 'active', session: active };
      return deleted === null ? { kind: 'none' } : { kind: 'deleted', session: deleted };
    };
    const states = { local: stateOf('local'), remote: stateOf('remote') };
    yield { session_id: place.session_id, states, agreed };
  }
}

class Reader<T extends Placed> {
  /** The next one; null at the end, and before the first {@link fill}. */
  head: T | null = null;
  readonly #from: AsyncIterator<T, void>;
  #isOver = false;

  constructor(from: AsyncIterator<T, void>) {
    this.#from = from;
  }

  async fill(): Promise<void> {
    if (this.head !== null || this.#isOver) return;
    const { value, done } = await this.#from.next();
    if (done === true) this.#isOver = true;
    else this.head = value;
  }

  /** The next one, if it is at this place. */
  take(place: Placed): T | null {
    const { head } = this;
    if (head === null || comparePlaces(head, place) !== 0) return null;
    this.head = null;
    return head;
  }
}
