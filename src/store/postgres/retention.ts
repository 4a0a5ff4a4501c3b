// Retention in PostgreSQL. The row of the project's policy is the lock of all changes of a policy and of all begins and ends of runs.
import type { RetentionPolicy } from '../../service/project-retention.ts';
import type { AuditOrigin } from '../audit-log.ts';
import {
  type ActivityCursor,
  beforeAll,
  beforeNewest,
  type ExpiryFilter,
  type LeasedRun,
  type PolicyRow,
  policyNote,
  policyText,
  type RetentionState,
  type RetentionStore,
  type RunBegin,
  type RunRow,
  type RunStart,
  refuseRun,
  type StoredPolicy,
  toPolicyRow,
} from '../retention-store.ts';
import { noteOf, recordNote } from './audit.ts';
import type { Ask } from './connection-pool.ts';
import { doWithOwnKey, type IdempotencyTools } from './idempotency.ts';
import { ofExpired } from './purge.ts';
import { expiryStatements, retentionStatements as statements } from './retention-rows.ts';
import { erase, expire, filterValues, type Lot, lastOf } from './retention-steps.ts';
import type { RunCall } from './run-call.ts';

interface StateRow extends RetentionState {
  /** True if this call is sent again, after a lost connection. */
  readonly is_own: boolean;
}

export class PostgresRetention implements RetentionStore {
  readonly #tools: IdempotencyTools;
  readonly #run: RunCall;

  /** `run` also has the audit log chained. */
  constructor(tools: IdempotencyTools, run: RunCall) {
    this.#tools = tools;
    this.#run = run;
  }

  readonly expire: RetentionStore['expire'] = (...call) => this.#run((ask) => expire(ask, ...call));
  readonly erase: RetentionStore['erase'] = (leased, deletedBefore, keptSince, onStep) => {
    const keptMs = this.#tools.keptMs({ keptSince });
    return this.#run(() => erase(this.#tools.connections, leased, deletedBefore, keptMs, onStep));
  };

  async now(): Promise<number> {
    const [row] = await this.#run((ask) => ask<{ now: number }>(statements.now));
    return row?.now ?? 0;
  }

  async policies(): Promise<readonly PolicyRow[]> {
    const rows = await this.#run((ask) => ask<StoredPolicy>(statements.policies));
    return rows.map(toPolicyRow);
  }

  cursorBefore(projectId: string, count: number): Promise<ActivityCursor | null> {
    return this.#run(async (ask) => {
      const newest: ActivityCursor[] = [];
      for (const of of [expiryStatements.listed, expiryStatements.archived])
        newest.push(...(await ask<ActivityCursor>(of.newest, [projectId, count + 1])));
      return beforeNewest(newest, count);
    });
  }

  countExpiring(projectId: string, filter: ExpiryFilter): Promise<number> {
    return this.#run(async (ask) => {
      let sessions = 0;
      for (const { count } of [expiryStatements.listed, expiryStatements.archived]) {
        for (let place: ActivityCursor | null = beforeAll; place !== null; ) {
          const [lot] = await ask<Lot>(count, filterValues(projectId, filter, place));
          sessions += lot?.sessions ?? 0;
          place = lastOf(lot);
        }
      }
      return sessions;
    });
  }

  async countErasable(projectId: string, deletedBefore: number): Promise<number> {
    const values = [projectId, deletedBefore];
    const [row] = await this.#run((ask) => ask<{ sessions: number }>(ofExpired.count, values));
    return row?.sessions ?? 0;
  }

  async activityFrom(projectId: string, time: number): Promise<number | null> {
    const [row] = await this.#run((ask) => ask<{ time: number }>(statements.activityFrom, [projectId, time]));
    return row?.time ?? null;
  }

  async lastActivity(projectId: string, after: number, until: number): Promise<number | null> {
    const values = [projectId, after, until];
    const [row] = await this.#run((ask) => ask<{ time: number }>(statements.lastActivity, values));
    return row?.time ?? null;
  }

  setPolicy(projectId: string, policy: RetentionPolicy, by: AuditOrigin): Promise<boolean> {
    return this.#once(projectId, async (ask) => {
      if ((await ask(statements.set, [projectId, policyText(policy), by.time])).length === 0) return false;
      await endStopped(ask, projectId, by);
      await recordNote(ask, policyNote(by, 'retention_set', projectId));
      return true;
    });
  }

  removePolicy(projectId: string, by: AuditOrigin): Promise<boolean> {
    return this.#once(projectId, async (ask) => {
      if ((await ask(statements.remove, [projectId])).length === 0) return false;
      await endStopped(ask, projectId, by);
      await recordNote(ask, policyNote(by, 'retention_off', projectId));
      return true;
    });
  }

  begin(projectId: string, start: RunStart): Promise<RunBegin> {
    return this.#run(() =>
      this.#tools.connections.transaction(async (ask) => {
        const { batch, holder, leaseMs, now } = start;
        const [row] = await ask<StateRow>(statements.state, [projectId, holder]);
        const refusal = refuseRun(row?.is_own ? { ...row, last_run_at: null } : row, start);
        if (refusal !== null) return refusal;
        await ask(statements.take, [projectId, now, holder, leaseMs]);
        const [stopped] = await ask<RunRow>(statements.unfinished, [projectId]);
        if (stopped !== undefined) return { kind: 'begun', run: stopped, continued: true };
        const [made] = await ask<{ id: number }>(statements.begin, [projectId, batch, now]);
        const [run] = await ask<RunRow>(statements.run, [made?.id]);
        return { kind: 'begun', run: run as RunRow, continued: false };
      }),
    );
  }

  end({ projectId, run, holder }: LeasedRun, now: number): Promise<RunRow | null> {
    return this.#once(projectId, async (ask) => {
      if ((await ask(statements.release, [projectId, holder])).length === 0) return null;
      const [row] = await ask<RunRow>(statements.run, [run]);
      if (row !== undefined) await end(ask, row, now);
      return row ?? null;
    });
  }

  async release({ projectId, holder }: LeasedRun): Promise<void> {
    await this.#run((ask) => ask(statements.release, [projectId, holder]));
  }

  runs(): Promise<readonly RunRow[]> {
    return this.#run((ask) => ask<RunRow>(statements.runs));
  }

  async countRestorable(run: number): Promise<number> {
    const [row] = await this.#run((ask) => ask<{ sessions: number }>(statements.restorable, [run]));
    return row?.sessions ?? 0;
  }

  async restoreStep({ id, project_id }: RunRow, by: AuditOrigin): Promise<number> {
    const values = [id, by.time, noteOf('restore', project_id, by)];
    const [row] = await this.#run((ask) => ask<{ sessions: number }>(statements.restore, values));
    return row?.sessions ?? 0;
  }

  #once<T>(projectId: string, work: (ask: Ask) => Promise<T>): Promise<T> {
    return this.#run(() => doWithOwnKey(this.#tools, projectId, work));
  }
}

/** Ends a run that was stopped, or that this change of its policy stops. */
async function endStopped(ask: Ask, projectId: string, by: AuditOrigin): Promise<void> {
  for (const run of await ask<RunRow>(statements.unfinished, [projectId])) await end(ask, run, by.time);
}

async function end(ask: Ask, { id }: RunRow, now: number): Promise<void> {
  await ask(statements.end, [id, now]);
  await ask(statements.forget, [id]);
}
