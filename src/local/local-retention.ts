// Retention in a store of this process: policies, what a run would do, runs, and the restoration of what they deleted.
import { ParleyError } from '../service/errors.ts';
import { toTime } from '../service/iso-time.ts';
import type {
  ProjectRetention,
  Retention,
  RetentionBatch,
  RetentionEnd,
  RetentionPlan,
  RetentionPolicy,
  RetentionRunRequest,
} from '../service/project-retention.ts';
import { quoted } from '../service/quoted.ts';
import type { PolicyRow, RetentionStore } from '../store/session-store.ts';
import type { LocalOptions } from './local-options.ts';
import { checkPolicy, confirmationOf, erasedBefore, expiryFilter, maxGapMs } from './retention-rules.ts';
import { runPolicy } from './retention-run.ts';

export class LocalRetention implements Retention {
  readonly #local: LocalOptions;
  readonly #store: RetentionStore;

  constructor(local: LocalOptions, store: RetentionStore) {
    this.#local = local;
    this.#store = store;
  }

  async setPolicy(projectId: string, policy: RetentionPolicy): Promise<ProjectRetention> {
    checkPolicy(policy);
    if (!(await this.#store.setPolicy(projectId, policy, this.#owner()))) {
      throw new ParleyError('INVALID_REQUEST', `There is no project with the id ${quoted(projectId)}.`, {
        remedy: { kind: 'list_keys' },
      });
    }
    return toRetention((await this.#policy(projectId)) as PolicyRow);
  }

  async removePolicy(projectId: string): Promise<boolean> {
    return this.#store.removePolicy(projectId, this.#owner());
  }

  async policies(): Promise<readonly ProjectRetention[]> {
    return (await this.#store.policies()).map(toRetention);
  }

  async plan(projectId: string): Promise<RetentionPlan | null> {
    const row = await this.#policy(projectId);
    return row === undefined ? null : this.#planOf(row, await this.#now(), null);
  }

  async run(request: RetentionRunRequest): Promise<RetentionEnd> {
    const row = await this.#policy(request.project_id);
    if (row === undefined) return { kind: 'no_policy' };
    const now = await this.#now();
    const reason = await this.#confirmation(row, now, request.every_ms);
    const { confirmed } = request;
    if (reason !== null || confirmed !== null) {
      const plan = await this.#planOf(row, now, request.every_ms);
      if (reason !== null && confirmed === null) return { kind: 'unconfirmed', plan, reason };
      if (confirmed !== plan.sessions) return { kind: 'other_count', plan };
      request.onStart?.(confirmed);
    }
    return runPolicy({ ...this.#local, store: this.#store }, row, request, now);
  }

  async batches(): Promise<readonly RetentionBatch[]> {
    const rows = (await this.#store.runs()).filter(({ expired }) => expired > 0);
    return rows.map(({ id: _, erased: __, ...row }) => ({
      ...row,
      begun_at: toTime(row.begun_at),
      ended_at: orTime(row.ended_at),
      restored_at: orTime(row.restored_at),
    }));
  }

  async restoreBatch(
    batch: string,
    { signal, onStep }: { readonly signal: AbortSignal; readonly onStep?: (sessions: number) => void },
  ): Promise<number> {
    const run = (await this.#store.runs()).find((row) => row.batch === batch);
    if (run === undefined) {
      const message = `Retention has made no batch ${quoted(batch)} in this store.`;
      throw new ParleyError('INVALID_REQUEST', message, {
        hint: 'Nothing was restored. The list of batches has their names.',
      });
    }
    let count = 0;
    for (let sessions = await this.#store.countRestorable(run.id); sessions > 0; count += sessions) {
      signal.throwIfAborted();
      sessions = await this.#store.restoreStep(run, this.#owner());
      onStep?.(sessions);
    }
    return count;
  }

  /** The earlier time of two clocks: a server whose own clock is ahead removes nothing too early. */
  async #now(): Promise<number> {
    return Math.min(this.#local.now(), await this.#store.now());
  }

  #owner() {
    return { time: this.#local.now(), key_id: null, request_id: null };
  }

  async #policy(projectId: string): Promise<PolicyRow | undefined> {
    return (await this.#store.policies()).find(({ project_id }) => project_id === projectId);
  }

  async #confirmation(row: PolicyRow, now: number, everyMs: number | null) {
    const { project_id, last_run_at } = row;
    const gapMs = maxGapMs(everyMs);
    let traceEnd = last_run_at ?? now;
    while (traceEnd < now) {
      const last = await this.#store.lastActivity(project_id, traceEnd, Math.min(now, traceEnd + gapMs));
      if (last === null) break;
      traceEnd = last;
    }
    return confirmationOf(row, { now, traceEnd, gapMs });
  }

  async #planOf(row: PolicyRow, now: number, everyMs: number | null): Promise<RetentionPlan> {
    const { project_id, policy } = row;
    const store = this.#store;
    const oldestToKeep =
      policy.keep_last === null ? null : await store.cursorBefore(project_id, policy.keep_last);
    const expire = await store.countExpiring(project_id, expiryFilter(policy, now, oldestToKeep));
    const before = erasedBefore(policy, now);
    const erase = before === null ? 0 : await store.countErasable(project_id, before);
    const next = await store.activityFrom(project_id, now - policy.after_ms);
    const confirmation = await this.#confirmation(row, now, everyMs);
    const next_at = next === null ? null : toTime(next + policy.after_ms);
    return { ...toRetention(row), expire, erase, sessions: expire + erase, confirmation, next_at };
  }
}

function toRetention({ project_id, project_name, policy, set_at, last_run_at }: PolicyRow): ProjectRetention {
  return { project_id, project_name, ...policy, set_at: toTime(set_at), last_run_at: orTime(last_run_at) };
}

function orTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : toTime(milliseconds);
}
