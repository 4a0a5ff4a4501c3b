// One run of a policy: it first erases the sessions that expired long enough ago, then expires those that have become too old. A run takes
// many short steps. The next run continues one that was stopped between two steps, with the same batch.
import type { RetentionEnd, RetentionRunRequest } from '../service/project-retention.ts';
import type { ExpiryCursor, LeasedRun, PolicyRow, RetentionStore, RunBegin } from '../store/session-store.ts';
import type { LocalOptions } from './local-options.ts';
import { dueTimes, erasedBefore, expiryFilter } from './retention-rules.ts';

/** A run whose process was killed on another machine is free for the next one after this time, ms. */
const leaseMs = 5000;
/** How long (ms) a run at once waits for the lease of another, and how often it asks. */
const patienceMs = 8000;
const askAgainMs = 250;
/** Between the owner and the run in the name of a holder. */
const separator = '\n';

type Tools = Pick<LocalOptions, 'limits' | 'now' | 'sinceBoot' | 'ids' | 'owner'> & {
  readonly store: RetentionStore;
};
type Request = Omit<RetentionRunRequest, 'project_id' | 'confirmed' | 'onStart'>;

export async function runPolicy(
  tools: Tools,
  row: PolicyRow,
  request: Request,
  now: number,
): Promise<RetentionEnd> {
  const { store } = tools;
  const { project_id: projectId } = row;
  const batch = tools.ids.next('ret', now);
  const holder = `${tools.owner.id}${separator}${batch}`;
  const start = { batch, policy: row.policy, holder, leaseMs, now, ...dueTimes(now, request.every_ms) };
  const begin = (deadHolder: string | null) => store.begin(projectId, { ...start, deadHolder });
  const runBegin = await beginInTime(begin, tools, request);
  if (runBegin.kind === 'not_due') return { kind: 'not_due' };
  // The policy was changed at this moment, so its owner may want another run.
  if (runBegin.kind !== 'begun') return { kind: 'busy' };
  const { run, continued } = runBegin;
  const by = { time: now, key_id: null, request_id: null };
  const leasedRun: LeasedRun = { projectId, run: run.id, holder, leaseMs, by };
  const counts = { expired: run.expired, erased: run.erased };
  const count = (action: 'expired' | 'erased', sessions: number) => {
    counts[action] += sessions;
    if (sessions > 0) request.onStep?.(action, sessions);
    return !request.signal.aborted;
  };
  let isDone = false;
  try {
    isDone = await eraseAndExpire(store, leasedRun, row, {
      now,
      keptSince: now - tools.limits.idempotencyMs,
      count,
    });
  } finally {
    // The lease ends by itself if it cannot be given back.
    if (!isDone) await store.release(leasedRun).catch(() => {});
  }
  const endedRun = isDone ? await store.end(leasedRun, tools.now()) : null;
  const { expired, erased } = endedRun ?? counts;
  const report = {
    project_id: row.project_id,
    project_name: row.project_name,
    batch: expired > 0 ? run.batch : null,
    expired,
    erased,
    continued,
    finished: endedRun !== null,
  };
  return { kind: 'ran', report };
}

async function beginInTime(
  begin: (deadHolder: string | null) => Promise<RunBegin>,
  { sinceBoot, owner }: Tools,
  { every_ms, signal }: Request,
): Promise<RunBegin> {
  const until = sinceBoot() + patienceMs;
  let deadHolder: string | null = null;
  for (;;) {
    signal.throwIfAborted();
    const runBegin = await begin(deadHolder);
    if (runBegin.kind === 'busy' && owner.isGone(runBegin.holder.split(separator)[0] ?? '')) {
      deadHolder = runBegin.holder;
      continue;
    }
    if (runBegin.kind !== 'busy' || every_ms !== null || sinceBoot() >= until) return runBegin;
    await new Promise((resolve) => setTimeout(resolve, askAgainMs));
  }
}

/** Resolves with false if the signal or a change of the policy has stopped it. */
async function eraseAndExpire(
  store: RetentionStore,
  leasedRun: LeasedRun,
  { policy }: PolicyRow,
  {
    now,
    keptSince,
    count,
  }: {
    readonly now: number;
    readonly keptSince: number;
    readonly count: (action: 'expired' | 'erased', sessions: number) => boolean;
  },
): Promise<boolean> {
  const { projectId } = leasedRun;
  const before = erasedBefore(policy, now);
  if (before !== null && (await store.countErasable(projectId, before)) > 0) {
    const isDone = await store.erase(leasedRun, before, keptSince, (sessions) => count('erased', sessions));
    if (!isDone) return false;
  }
  const oldestToKeep =
    policy.keep_last === null ? null : await store.cursorBefore(projectId, policy.keep_last);
  const filter = expiryFilter(policy, now, oldestToKeep);
  let place: ExpiryCursor | null = null;
  do {
    const step = await store.expire(leasedRun, filter, place);
    if (step === null) return false;
    place = step.next;
    if (!count('expired', step.sessions) && place !== null) return false;
  } while (place !== null);
  return true;
}
