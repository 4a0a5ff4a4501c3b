// Syncs one session: applies its plan in the requested directions, and returns the new agreement.

import { hasCode, ParleyError } from '../../service/errors.ts';
import type { Session } from '../../service/session.ts';
import { storeUnlessTaken } from '../session-batch/store-unless-taken.ts';
import { type Agreement, agreementOn, lookEqual, usableAgreement } from './agreement.ts';
import {
  hasSameMessages,
  isSameRecord,
  type MergeResult,
  mergeRecords,
  type StoredRecord,
} from './merged-records.ts';
import type { Side } from './side.ts';
import { otherSide, type SideName } from './side-name.ts';
import { type JoinedSession, planSession } from './sync-plan.ts';

export type SyncStatus =
  | 'unchanged'
  | 'pushed'
  | 'pulled'
  | 'grown'
  | 'changed'
  | 'forked'
  | 'restored'
  | 'deleted'
  | 'waiting';

export interface SyncResult {
  /** `waiting` if there is something to do in the direction that was not requested. Null for a session that no side has any more. */
  readonly status: SyncStatus | null;
  /** Where something was done. */
  readonly at?: SideName | 'both';
  /** The id of the new session for the messages of one side. */
  readonly fork?: string;
  /** The agreement from now on; null if there is none. */
  readonly agreed: Agreement | null;
  /** The agreement on the fork. */
  readonly forkAgreement?: Agreement;
}

export interface SyncOptions {
  readonly sides: Readonly<Record<SideName, Side>>;
  /** The sides that may be written to. */
  readonly writes: readonly SideName[];
  readonly dryRun: boolean;
}

/** How often the sync of a session that changes meanwhile is tried. */
const maxTries = 3;

export async function syncSession(joined: JoinedSession, options: SyncOptions): Promise<SyncResult> {
  return new SessionSync(joined, options).run();
}

class SessionSync {
  readonly #joined: JoinedSession;
  readonly #options: SyncOptions;
  readonly #agreed: Agreement | null;

  constructor(joined: JoinedSession, options: SyncOptions) {
    this.#joined = joined;
    this.#options = options;
    this.#agreed = usableAgreement(joined.agreed);
  }

  async run(): Promise<SyncResult> {
    const { agreed } = this.#joined;
    const step = planSession(this.#joined, this.#agreed);
    if (step.kind === 'none') return { status: null, agreed: null };
    if (step.kind === 'agree') {
      const status = step.deleted ? null : 'unchanged';
      return { status, agreed: agreementOn(step.session, step.deleted, agreed) };
    }
    if (step.kind === 'copy') return this.#copy(step.to);
    if (step.kind === 'delete') return this.#delete(otherSide(step.at));
    if (step.restoreAt !== null) return this.#restore(step.restoreAt);
    return this.#merge();
  }

  async #copy(to: SideName): Promise<SyncResult> {
    const { agreed, session_id } = this.#joined;
    if (!this.#mayWrite(to)) return { status: 'waiting', agreed };
    const status = to === 'remote' ? 'pushed' : 'pulled';
    if (this.#options.dryRun) return { status, at: to, agreed };
    const record = await this.#options.sides[otherSide(to)].read(session_id);
    if (await storeUnlessTaken(() => this.#options.sides[to].store(record)))
      return { status, at: to, agreed: agreementOn(record.session, false, agreed) };
    // It was created there after the listing: a fork of this sync that an earlier sync had created here, too, and that was changed here since.
    return this.#merge(to);
  }

  /** Applies a deletion to the other side. `deletedAt` is the side where the session is already deleted. */
  async #delete(deletedAt: SideName): Promise<SyncResult> {
    const { agreed, session_id, states } = this.#joined;
    const at = otherSide(deletedAt);
    const state = states[at];
    if (!this.#mayWrite(at) || state.kind === 'none') return { status: 'waiting', agreed };
    if (this.#options.dryRun) return { status: 'deleted', at, agreed };
    const side = this.#options.sides[at];
    const now = await side.find(session_id);
    if (now !== null && !lookEqual(now, state.session)) throw busy(session_id);
    if (now !== null) await deleteUnchanged(side, now);
    return { status: 'deleted', at, agreed: agreementOn(state.session, true, agreed) };
  }

  async #restore(at: SideName): Promise<SyncResult> {
    const { agreed, session_id } = this.#joined;
    if (!this.#mayWrite(at)) return { status: 'waiting', agreed };
    if (this.#options.dryRun) return { status: 'restored', at, agreed };
    await this.#options.sides[at].restore(session_id);
    const merged = await this.#merge();
    if (merged.status === 'waiting' || merged.status === 'forked') return merged;
    return { status: 'restored', at, agreed: merged.agreed };
  }

  /** `unchangedAt` is the side that still has the common earlier version; null to use the agreement. */
  async #merge(unchangedAt: SideName | null = null): Promise<SyncResult> {
    for (let tries = 1; ; tries += 1) {
      const { session_id } = this.#joined;
      const { local, remote } = this.#options.sides;
      const [one, other] = await Promise.all([local.read(session_id), remote.read(session_id)]);
      const before = unchangedAt === null ? null : (unchangedAt === 'local' ? one : other).session;
      const agreed = before === null ? this.#agreed : agreementOn(before, false, null);
      const merged = mergeRecords(one, other, agreed);
      try {
        return await this.#apply({ local: one, remote: other }, merged);
      } catch (error) {
        const isBusy = hasCode(error, 'SESSION_BUSY');
        if (!isBusy || tries === maxTries) throw error;
      }
    }
  }

  async #apply(stored: Readonly<Record<SideName, StoredRecord>>, merged: MergeResult): Promise<SyncResult> {
    const { agreed } = this.#joined;
    const { dryRun, sides } = this.#options;
    const { goals, fork } = merged;
    const { session } = goals.local;
    const outdated = (['local', 'remote'] as const).filter(
      (side) => !isSameRecord(stored[side], goals[side]),
    );
    const written = outdated.filter((side) => this.#mayWrite(side));
    const createsFork = fork !== null && this.#mayWrite(otherSide(fork.side));
    const isComplete =
      written.length === outdated.length && (fork === null || (createsFork && this.#mayWrite(fork.side)));
    if (written.length === 0 && !createsFork) {
      if (!isComplete) return { status: 'waiting', agreed };
      return { status: 'unchanged', agreed: agreementOn(session, false, agreed) };
    }
    if (!dryRun) {
      // The fork is first stored on the side that has its messages, before they are replaced in the session.
      for (const side of fork === null ? [] : [fork.side, otherSide(fork.side)])
        if (fork !== null && this.#mayWrite(side))
          await storeUnlessTaken(() => sides[side].store(fork.record));
      for (const side of written) {
        const kept_in = fork?.side === side ? fork.record.session.session_id : null;
        await sides[side].replace(goals[side], { session: stored[side].session, kept_in });
      }
    }
    const isGrown = outdated.some((side) => !hasSameMessages(stored[side], goals[side]));
    const status = isGrown ? 'grown' : 'changed';
    const [onlyWritten] = written.length === 1 && fork === null ? written : [];
    return {
      status: fork !== null ? 'forked' : status,
      at: onlyWritten ?? 'both',
      agreed: isComplete ? agreementOn(session, false, agreed) : agreed,
      ...(fork !== null && { fork: fork.record.session.session_id }),
      ...(fork !== null && isComplete && { forkAgreement: agreementOn(fork.record.session, false, null) }),
    };
  }

  #mayWrite(side: SideName): boolean {
    return this.#options.writes.includes(side);
  }
}

/** A deletion has no condition, so a session that changed just before it is restored. */
async function deleteUnchanged(side: Side, session: Session): Promise<void> {
  const { session_id } = session;
  await side.delete(session_id);
  const deleted = await side.findDeleted(session_id);
  if (deleted === null || lookEqual(deleted, session)) return;
  await side.restore(session_id);
  throw busy(session_id);
}

function busy(sessionId: string): ParleyError {
  return new ParleyError('SESSION_BUSY', `Session ${sessionId} changed while it was synced.`, {
    hint: 'This session was not changed. Sync again.',
  });
}
