// Retention in SQLite. A run is many short transactions, with pauses in which other processes write. Each of them renews the lease of the
// run, and does nothing if the lease is gone.
import type { RetentionPolicy } from '../../service/project-retention.ts';
import type { AuditOrigin } from '../audit-log.ts';
import {
  type LeasedRun,
  type PolicyRow,
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
import type { Clocks } from './age-clock.ts';
import type { SqliteAudit } from './audit.ts';
import type { Connection } from './connection.ts';
import { isLeaseOver, leaseEnd } from './lease-clock.ts';
import { RetentionCounts } from './retention-counts.ts';
import { retentionStatements as statements } from './retention-rows.ts';
import { RetentionSteps } from './retention-steps.ts';
import type { StoreAccess } from './store-access.ts';

type StateRow = Omit<RetentionState, 'is_held'> & { readonly runner_until: number | null };

export class SqliteRetention implements RetentionStore {
  readonly #access: StoreAccess;
  readonly #audit: SqliteAudit;
  readonly #clocks: () => Clocks;
  readonly #counts: RetentionCounts;
  readonly #steps: RetentionSteps;

  constructor(access: StoreAccess, audit: SqliteAudit, clocks: () => Clocks) {
    this.#access = access;
    this.#audit = audit;
    this.#clocks = clocks;
    this.#counts = new RetentionCounts(access, clocks);
    this.#steps = new RetentionSteps(access, audit, clocks);
  }

  readonly cursorBefore: RetentionStore['cursorBefore'] = (...call) => this.#counts.cursorBefore(...call);
  readonly countExpiring: RetentionStore['countExpiring'] = (...call) => this.#counts.countExpiring(...call);
  readonly countErasable: RetentionStore['countErasable'] = (...call) => this.#counts.countErasable(...call);
  readonly activityFrom: RetentionStore['activityFrom'] = (...call) => this.#counts.activityFrom(...call);
  readonly lastActivity: RetentionStore['lastActivity'] = (...call) => this.#counts.lastActivity(...call);
  readonly expire: RetentionStore['expire'] = (...call) => this.#steps.expire(...call);
  readonly erase: RetentionStore['erase'] = (...call) => this.#steps.erase(...call);
  readonly restoreStep: RetentionStore['restoreStep'] = (...call) => this.#steps.restore(...call);

  policies(): Promise<readonly PolicyRow[]> {
    return this.#access.read((connection) =>
      connection.all<StoredPolicy>(statements.policies).map(toPolicyRow),
    );
  }

  setPolicy(projectId: string, policy: RetentionPolicy, by: AuditOrigin): Promise<boolean> {
    return this.#access.write(projectId, (connection) => {
      const values = { projectId, policy: policyText(policy), now: by.time };
      if (connection.run(statements.set, values).changes === 0) return false;
      this.#endStopped(connection, projectId, by);
      this.#record(connection, 'retention_set', projectId, by);
      return true;
    });
  }

  removePolicy(projectId: string, by: AuditOrigin): Promise<boolean> {
    return this.#access.write(projectId, (connection) => {
      this.#endStopped(connection, projectId, by);
      if (connection.run(statements.remove, { projectId }).changes === 0) return false;
      this.#record(connection, 'retention_off', projectId, by);
      return true;
    });
  }

  begin(projectId: string, start: RunStart): Promise<RunBegin> {
    return this.#access.write(projectId, (connection) => {
      const { clock } = this.#clocks();
      const { batch, holder, leaseMs, now } = start;
      const row = connection.get<StateRow>(statements.state, { projectId });
      const state = row && { ...row, is_held: !isLeaseOver(row.runner_until ?? 0, clock) };
      const refusal = refuseRun(state, start);
      if (refusal !== null) return refusal;
      connection.run(statements.take, { projectId, now, holder, until: leaseEnd(clock, leaseMs) });
      const stopped = connection.get<RunRow>(statements.unfinished, { projectId });
      if (stopped !== undefined) return { kind: 'begun', run: stopped, continued: true };
      const run = connection.run(statements.begin, { projectId, batch, now }).rowId;
      return {
        kind: 'begun',
        run: connection.get<RunRow>(statements.run, { run }) as RunRow,
        continued: false,
      };
    });
  }

  end({ projectId, run, holder }: LeasedRun, now: number): Promise<RunRow | null> {
    return this.#access.write(projectId, (connection) => {
      if (connection.run(statements.release, { projectId, holder }).changes === 0) return null;
      const row = connection.get<RunRow>(statements.run, { run }) as RunRow;
      this.#end(connection, row, now);
      return row;
    });
  }

  async release({ projectId, holder }: LeasedRun): Promise<void> {
    await this.#access.write(projectId, (connection) =>
      connection.run(statements.release, { projectId, holder }),
    );
  }

  runs(): Promise<readonly RunRow[]> {
    return this.#access.read((connection) => connection.all<RunRow>(statements.runs));
  }

  countRestorable(run: number): Promise<number> {
    return this.#access.read(
      (connection) => connection.get<{ sessions: number }>(statements.restorable, { run })?.sessions ?? 0,
    );
  }

  #endStopped(connection: Connection, projectId: string, by: AuditOrigin): void {
    for (const run of connection.all<RunRow>(statements.unfinished, { projectId }))
      this.#end(connection, run, by.time);
  }

  #end(connection: Connection, { id }: RunRow, now: number): void {
    connection.run(statements.end, { run: id, now });
    connection.run(statements.forget, { run: id });
  }

  #record(
    connection: Connection,
    what: 'retention_set' | 'retention_off',
    project_id: string,
    by: AuditOrigin,
  ): void {
    this.#audit.add(connection, { ...by, what, project_id, count: 1, ids: [] });
  }
}
