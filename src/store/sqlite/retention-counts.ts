// What retention reads in SQLite. Long reads are in steps, so that other calls run in between.
import {
  type ActivityCursor,
  beforeAll,
  beforeNewest,
  type ExpiryFilter,
  isBefore,
  type RetentionStore,
} from '../retention-store.ts';
import type { Clocks } from './age-clock.ts';
import type { Connection } from './connection.ts';
import type { Bindings } from './driver.ts';
import { countedAtOnce, expiryStatements, retentionStatements as statements } from './retention-rows.ts';
import type { Steps } from './steps.ts';
import type { StoreAccess } from './store-access.ts';

type Counts = Pick<
  RetentionStore,
  'cursorBefore' | 'countExpiring' | 'countErasable' | 'activityFrom' | 'lastActivity'
>;

export class RetentionCounts implements Counts {
  readonly #access: StoreAccess;
  readonly #clocks: () => Clocks;

  constructor(access: StoreAccess, clocks: () => Clocks) {
    this.#access = access;
    this.#clocks = clocks;
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
    const bindings = { projectId, ...filterBindings(filter), clock: this.#clocks().clock };
    return this.#access.readInSteps(projectId, (connection) => countSteps(connection, bindings, filter.end));
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
}

function filterBindings({ end, restoredBefore }: ExpiryFilter) {
  return { endTime: end.time, endId: end.sessionId, restoredBefore };
}

function* countSteps(
  connection: Connection,
  { endTime, endId, restoredBefore, ...bindings }: Bindings,
  end: ActivityCursor,
): Steps<number> {
  let sessions = 0;
  const { projectId = null } = bindings;
  for (const { count, countEnd } of [expiryStatements.listed, expiryStatements.archived]) {
    let place: ActivityCursor | undefined = beforeAll;
    while (place !== undefined && isBefore(place, end)) {
      const values = { ...bindings, ...place, endTime, endId, restoredBefore } as Bindings;
      sessions += connection.get<{ sessions: number }>(count, values)?.sessions ?? 0;
      place = connection.get<ActivityCursor>(countEnd, { projectId, ...place });
      yield;
    }
  }
  return sessions;
}

function* erasableSteps(
  connection: Connection,
  { projectId, clock, deletedBefore }: Bindings,
): Steps<number> {
  let sessions = 0;
  const runs = connection.all<{ run: number; last_at: number }>(statements.erasableRuns, {
    ...{ projectId, deletedBefore },
  } as Bindings);
  for (const { run, last_at: lastAt } of runs) {
    for (let after = 0, isOver = false; !isOver; ) {
      const values = { run, lastAt, after, deletedBefore, clock } as Bindings;
      const lot = connection.get<Lot>(statements.countErasable, values) as Lot;
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
