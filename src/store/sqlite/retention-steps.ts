// The writes of a run of retention, and of its restoration, each step a transaction of some milliseconds. A step of a run renews the lease
// of the run, and does nothing if the lease is gone.
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import type { AuditOrigin } from '../audit-log.ts';
import {
  type ActivityCursor,
  type ExpiryCursor,
  type ExpiryFilter,
  firstCursor,
  isBefore,
  type LeasedRun,
  nextCursor,
  type RunRow,
  type RunStep,
} from '../retention-store.ts';
import type { Clocks } from './age-clock.ts';
import type { SqliteAudit } from './audit.ts';
import type { Connection } from './connection.ts';
import { agedSince } from './idempotency.ts';
import { leaseEnd } from './lease-clock.ts';
import { answerSteps, ofExpired, purgeStatements, sessionSteps } from './purge-rows.ts';
import { expiredAtOnce, expiryStatements, retentionStatements as statements } from './retention-rows.ts';
import type { Steps } from './steps.ts';
import type { StoreAccess } from './store-access.ts';
import { storeItself } from './writer.ts';

/** After this time (ms) a step takes no further sessions, because other writes wait for its end. */
const longestMs = 20;
/** The pause between two steps, in ms, because other processes check only from time to time whether the store is free. */
const pauseMs = 5;

interface NextSession extends ActivityCursor {
  readonly id: number;
  readonly expires: number;
}

export class RetentionSteps {
  readonly #access: StoreAccess;
  readonly #audit: SqliteAudit;
  readonly #clocks: () => Clocks;

  constructor(access: StoreAccess, audit: SqliteAudit, clocks: () => Clocks) {
    this.#access = access;
    this.#audit = audit;
    this.#clocks = clocks;
  }

  async expire(
    leased: LeasedRun,
    filter: ExpiryFilter,
    from: ExpiryCursor | null,
  ): Promise<RunStep<ExpiryCursor>> {
    if (from !== null) await delay(pauseMs);
    return this.#write(leased.projectId, (connection) => {
      if (!this.#hold(connection, leased)) return null;
      const { projectId, run, by } = leased;
      const bindings = { projectId, clock: this.#clocks().clock, restoredBefore: filter.restoredBefore };
      const start = from ?? firstCursor;
      const { archived } = start;
      const { next } = archived ? expiryStatements.archived : expiryStatements.listed;
      let place: ExpiryCursor | null = start;
      const expired: NextSession[] = [];
      const began = monotonicMs();
      while (place?.archived === archived && monotonicMs() - began < longestMs) {
        const found = connection.all<NextSession>(next, { ...bindings, ...place.after });
        const inReach = found.filter((session) => isBefore(session, filter.end));
        const expiring = inReach.filter(({ expires }) => expires);
        const ids = JSON.stringify(expiring.map(({ id }) => id));
        connection.run(statements.expire, { run, now: by.time, ids });
        expired.push(...expiring);
        const last = inReach.length === expiredAtOnce ? inReach.at(-1) : undefined;
        place = nextCursor(archived, last ? { time: last.time, sessionId: last.sessionId } : null);
      }
      const sessions = expired.length;
      if (sessions > 0) connection.run(statements.expired, { run, sessions, now: by.time });
      const audited = expired.map(({ sessionId }) => ({ session_id: sessionId }));
      this.#audit.recordSessions(audited, connection, 'expire', projectId, by);
      return { sessions, next: place };
    });
  }

  /** `onStep` answers whether the next step is wanted. False if not all was done. */
  async erase(
    leased: LeasedRun,
    deletedBefore: number,
    keptSince: number,
    onStep: (sessions: number) => boolean,
  ): Promise<boolean> {
    const { connection } = this.#access;
    const { projectId, run, by } = leased;
    const bindings = { projectId, deletedBefore, clock: this.#clocks().clock };
    let erasedNow: { readonly session_id: string }[] = [];
    const erased = (session_id: string) => {
      erasedNow.push({ session_id });
    };
    const tools = { connection, clocks: this.#clocks, erased };
    const steps = (function* (): Steps<void> {
      connection.run(purgeStatements.begin);
      const since = agedSince({ connection, ...tools.clocks() }, keptSince);
      yield* answerSteps(tools, ofExpired, bindings, since);
      yield* sessionSteps(tools, ofExpired, bindings);
    })();
    connection.pragma('secure_delete = ON');
    try {
      for (;;) {
        const isOver = await this.#write(projectId, () => {
          if (!this.#hold(connection, leased)) return null;
          const { done } = steps.next();
          if (erasedNow.length > 0) connection.run(statements.erased, { run, sessions: erasedNow.length });
          this.#audit.recordSessions(erasedNow, connection, 'purge', projectId, by);
          return done === true;
        });
        if (isOver === null) return false;
        const isWanted = onStep(erasedNow.length);
        erasedNow = [];
        if (isOver) return true;
        if (!isWanted) return false;
        await delay(pauseMs);
      }
    } finally {
      connection.pragma('secure_delete = OFF');
    }
  }

  async restore({ id: run, project_id }: RunRow, by: AuditOrigin): Promise<number> {
    await delay(pauseMs);
    return this.#write(storeItself, (connection) => {
      const restored: { readonly session_id: string }[] = [];
      const began = monotonicMs();
      for (let changes = 1; changes > 0 && monotonicMs() - began < longestMs; ) {
        const back = connection.all<{ session_id: string }>(statements.restore, { run, now: by.time });
        restored.push(...back);
        changes = back.length;
      }
      const sessions = restored.length;
      if (sessions > 0) connection.run(statements.restored, { run, sessions, now: by.time });
      this.#audit.recordSessions(restored, connection, 'restore', project_id, by);
      return sessions;
    });
  }

  #write<T>(party: string, work: (connection: Connection) => T): Promise<T> {
    const { connection, writer } = this.#access;
    return this.#access.run(() => writer.writeAlone(() => work(connection), party));
  }

  #hold(connection: Connection, { projectId, holder, leaseMs }: LeasedRun): boolean {
    const until = leaseEnd(this.#clocks().clock, leaseMs);
    return connection.run(statements.hold, { projectId, holder, until }).changes > 0;
  }
}
