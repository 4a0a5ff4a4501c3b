// Retention in SQLite: the policies, the counts and the runs. A long count is in steps, so that other calls run in between. A run is many
// short transactions (retention-steps.ts), with pauses in which other processes write.
import type { RetentionPolicy } from '../../service/project-retention.ts';
import type { AuditOrigin } from '../audit-log.ts';
import {
  type ActivityCursor,
  beforeAll,
  beforeNewest,
  type ExpiryFilter,
  isBefore,
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
import type { Clocks } from './age-clock.ts';
import type { SqliteAudit } from './audit.ts';
import type { Connection } from './connection.ts';
import type { Bindings } from './driver.ts';
import { isLeaseOver, leaseEnd } from './lease-clock.ts';
import { countedAtOnce, expiryStatements, retentionStatements as statements } from './retention-rows.ts';
import { RetentionSteps } from './retention-steps.ts';
import type { Steps } from './steps.ts';
import type { StoreAccess } from './store-access.ts';

type StateRow = Omit<RetentionState, 'is_held'> & { readonly runner_until: number | null };

export class SqliteRetention implements RetentionStore {
  readonly #access: StoreAccess;
  readonly #audit: SqliteAudit;
  readonly #clocks: () => Clocks;
  readonly #steps: RetentionSteps;

  constructor(access: StoreAccess, audit: SqliteAudit, clocks: () => Clocks) {
    this.#access = access;
    this.#audit = audit;
    this.#clocks = clocks;
    this.#steps = new RetentionSteps(access, audit, clocks);
  }

  readonly expire: RetentionStore['expire'] = (...call) => this.#steps.expire(...call);
  readonly erase: RetentionStore['erase'] = (...call) => this.#steps.erase(...call);
  readonly restoreStep: RetentionStore['restoreStep'] = (...call) => this.#steps.restore(...call);

  async now(): Promise<number> {
    return this.#clocks().now;
  }

  policies(): Promise<readonly PolicyRow[]> {
    return this.#access.read((connection) =>
      connection.all<StoredPolicy>(statements.policies).map(toPolicyRow),
    );
  }

  cursorBefore(projectId: string, count: number): Promise<ActivityCursor | null> {
    return this.#access.read((connection) => {
      const newest = [expiryStatements.listed, expiryStatements.archived].flatMap((statements) =>
        connection.all<ActivityCursor>(statements.newest, { projectId, limit: count + 1 }),
      );
      return beforeNewest(newest, count);
    });
  }

  countExpiring(projectId: string, filter: ExpiryFilter): Promise<number> {
    const { clock } = this.#clocks();
    return this.#access.readInSteps(projectId, (from) => countSteps(from, projectId, filter, clock));
  }

  countErasable(projectId: string, deletedBefore: number): Promise<number> {
    const bindings = { projectId, deletedBefore, clock: this.#clocks().clock };
    return this.#access.readInSteps(projectId, (connection) => erasableSteps(connection, bindings));
  }

  activityFrom(projectId: string, time: number): Promise<number | null> {
    return this.#access.read(
      (connection) =>
        connection.get<{ time: number }>(statements.activityFrom, { projectId, time })?.time ?? null,
    );
  }

  lastActivity(projectId: string, after: number, until: number): Promise<number | null> {
    const values = { projectId, after, until };
    return this.#access.read(
      (connection) => connection.get<{ time: number | null }>(statements.lastActivity, values)?.time ?? null,
    );
  }

  setPolicy(projectId: string, policy: RetentionPolicy, by: AuditOrigin): Promise<boolean> {
    return this.#access.write(projectId, (connection) => {
      const values = { projectId, policy: policyText(policy), now: by.time };
      if (connection.run(statements.set, values).changes === 0) return false;
      this.#endStopped(connection, projectId, by);
      this.#audit.add(connection, policyNote(by, 'retention_set', projectId));
      return true;
    });
  }

  removePolicy(projectId: string, by: AuditOrigin): Promise<boolean> {
    return this.#access.write(projectId, (connection) => {
      this.#endStopped(connection, projectId, by);
      if (connection.run(statements.remove, { projectId }).changes === 0) return false;
      this.#audit.add(connection, policyNote(by, 'retention_off', projectId));
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
      const { rowId } = connection.run(statements.begin, { projectId, batch, now });
      const run = connection.get<RunRow>(statements.run, { run: rowId }) as RunRow;
      return { kind: 'begun', run, continued: false };
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
}

function* countSteps(
  connection: Connection,
  projectId: string,
  { end, restoredBefore }: ExpiryFilter,
  clock: number,
): Steps<number> {
  let sessions = 0;
  const bounds = { projectId, restoredBefore, clock, endTime: end.time, endId: end.sessionId };
  for (const { count, countEnd } of [expiryStatements.listed, expiryStatements.archived]) {
    let place: ActivityCursor | undefined = beforeAll;
    while (place !== undefined && isBefore(place, end)) {
      const bindings: Bindings = { ...bounds, ...place };
      sessions += connection.get<{ sessions: number }>(count, bindings)?.sessions ?? 0;
      place = connection.get<ActivityCursor>(countEnd, bindings);
      yield;
    }
  }
  return sessions;
}

function* erasableSteps(connection: Connection, bindings: Bindings): Steps<number> {
  let sessions = 0;
  const runs = connection.all<{ run: number; last_at: number }>(statements.erasableRuns, bindings);
  for (const { run, last_at: lastAt } of runs) {
    for (let after = 0, isOver = false; !isOver; ) {
      const lot = connection.get<Lot>(statements.countErasable, { ...bindings, run, lastAt, after }) as Lot;
      sessions += lot.sessions;
      after = lot.last ?? 0;
      isOver = lot.found < countedAtOnce;
      yield;
    }
  }
  return sessions;
}

interface Lot {
  readonly found: number;
  readonly last: number | null;
  readonly sessions: number;
}
