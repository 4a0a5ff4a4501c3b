// Joins the listings of both sides and their agreements, session by session, in one order. Memory holds only a page of each.
import { ParleyError } from '../../service/errors.ts';
import type { Session } from '../../service/session.ts';
import type { Agreement } from './agreement.ts';
import { compareOrder, type ListPosition, type Side } from './side.ts';
import type { SideName } from './side-name.ts';
import type { JoinedSession, SideState } from './sync-plan.ts';

const fewSessions = 20;

export async function* joinedSessions(
  sides: Readonly<Record<SideName, Side>>,
  agreements: () => AsyncGenerator<Agreement, void>,
): AsyncGenerator<JoinedSession, void> {
  const reader = <T extends ListPosition>(from: AsyncIterator<T, void>) => new Reader(from);
  const lists = {
    local: { active: reader(sides.local.list(false)), deleted: reader(sides.local.list(true)) },
    remote: { active: reader(sides.remote.list(false)), deleted: reader(sides.remote.list(true)) },
  };
  const known = reader(agreements());
  const readers: readonly Reader<ListPosition>[] = [
    known,
    ...Object.values(lists).flatMap(({ active, deleted }) => [active, deleted]),
  ];
  for (let isFirst = true; ; isFirst = false) {
    await Promise.all(readers.map((each) => each.fill()));
    if (isFirst) await requireNotEmptied(lists, agreements);
    const places = readers.flatMap(({ head }) => (head === null ? [] : [head]));
    if (places.length === 0) return;
    const place = places.reduce((first, other) => (compareOrder(other, first) < 0 ? other : first));
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

/**
 * Refuses a side that lost all its sessions, because an unmounted disk or a new store must not delete the sessions of the other side. A few
 * sessions may have been purged.
 */
async function requireNotEmptied(
  lists: Readonly<Record<SideName, { readonly active: Reader<Session>; readonly deleted: Reader<Session> }>>,
  agreements: () => AsyncGenerator<Agreement, void>,
): Promise<void> {
  for (const side of ['local', 'remote'] as const) {
    const { active, deleted } = lists[side];
    if (active.head !== null || deleted.head !== null) continue;
    if (!(await hasMore(agreements(), fewSessions))) return;
    const store = side === 'local' ? 'The store in use' : 'The store of the profile';
    throw new ParleyError('USAGE', `${store} has no sessions, but it had some at the last sync.`, {
      hint: 'Nothing was changed. Check that it is the right store. To copy the sessions back to it, use --forget.',
    });
  }
}

async function hasMore(agreements: AsyncGenerator<Agreement, void>, count: number): Promise<boolean> {
  let read = 0;
  for await (const _ of agreements) {
    read += 1;
    if (read > count) return true;
  }
  return false;
}

class Reader<T extends ListPosition> {
  /** The next item; null at the end, and before the first {@link fill}. */
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

  /** Takes the next item if it has this position in the order. */
  take(place: ListPosition): T | null {
    const { head } = this;
    if (head === null || compareOrder(head, place) !== 0) return null;
    this.head = null;
    return head;
  }
}
