// The calls of a store that a turn does not make, and the parts that only they need. The store loads this file at the first of them, so
// that a start does not wait for it.
import type { StoreReport } from '../../service/administration.ts';
import { toTime } from '../../service/iso-time.ts';
import type { Session } from '../../service/session.ts';
import { keyNote } from '../audit-log.ts';
import type { PurgeFilter } from '../session-filters.ts';
import type { IdempotencyKey, Idempotent, Purge, PurgeOptions, SessionStore } from '../session-store.ts';
import type { TurnWaiters } from '../turn-waiters.ts';
import { type AbandonedTools, endAbandonedTurn, endAbandonedTurns } from './abandoned-turns.ts';
import type { Clocks } from './age-clock.ts';
import type { SqliteAudit } from './audit.ts';
import type { Connection } from './connection.ts';
import type { StepTools } from './idempotency.ts';
import { inspect } from './inspection.ts';
import type { KeyReads } from './key-reads.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { importInParts, isShort } from './long-import.ts';
import { changeSession, orderSessions } from './ordering.ts';
import { planPurge, purgeSessions } from './purge.ts';
import { storeRedactions } from './redactions.ts';
import { importOrReplace } from './replaced-session.ts';
import { SqliteRetention } from './retention.ts';
import { removeAbandoned } from './staged-session.ts';
import type { StoreAccess } from './store-access.ts';
import type { StoreDependencies } from './store-dependencies.ts';
import { StoreLines } from './store-lines.ts';
import type { StoreProcesses } from './store-processes.ts';
import { StoreSearch } from './store-search.ts';
import { usage } from './usage.ts';
import { userSessions } from './user-sessions.ts';
import { storeItself } from './writer.ts';

/** The longest time (ms) that a read waits for the end of an abandoned turn. */
const readWaitMs = 1000;

/** Runs a write once for each idempotency key. */
export type WriteOnce = <T>(
  projectId: string,
  idempotencyKey: IdempotencyKey | null,
  work: (connection: Connection) => T,
) => Promise<Idempotent<T>>;

/** What the store shares with these calls. */
interface StoreParts {
  readonly access: StoreAccess;
  readonly keys: KeyReads;
  readonly audit: SqliteAudit;
  readonly turnWaiters: TurnWaiters;
  readonly dependencies: StoreDependencies;
  readonly processes: StoreProcesses | null;
  readonly clocks: () => Clocks;
  readonly abandonedTools: () => AbandonedTools;
  readonly writeOnce: WriteOnce;
}

export class RareCalls {
  readonly #parts: StoreParts;
  readonly search: StoreSearch;
  readonly lines: StoreLines;

  constructor(parts: StoreParts) {
    const { access, dependencies, processes, turnWaiters } = parts;
    this.#parts = parts;
    this.search = new StoreSearch(access, processes, dependencies.rules);
    this.lines = new StoreLines(access, this.#tools(), turnWaiters);
  }

  redactions() {
    return storeRedactions(this.#parts.access, this.#parts.audit, this.#parts.clocks);
  }

  retention() {
    return new SqliteRetention(this.#parts.access, this.#parts.audit, this.#parts.clocks);
  }

  users() {
    return userSessions(this.#parts.access, this.#parts.dependencies.sinceBoot);
  }

  /** Ends the turns, and removes the staged sessions, of processes that are gone. */
  async removeLeftovers(): Promise<void> {
    const { access, dependencies } = this.#parts;
    await removeAbandoned(access, dependencies.sinceBoot());
    await endAbandonedTurns(access.writer, this.#parts.abandonedTools());
  }

  /** Ends the turn of a session if it is abandoned. The next call repeats what fails here. */
  async endAbandonedTurn(projectId: string, sessionId: string): Promise<void> {
    const { access, turnWaiters } = this.#parts;
    const end = () => endAbandonedTurn(this.#parts.abandonedTools(), projectId, sessionId);
    // The messages can be read without their last one, also if the store is full or another process writes for long.
    await access.writer.write(end, { party: projectId, waitMs: readWaitMs }).catch(() => {});
    turnWaiters.wake(sessionId);
  }

  readonly createKey: SessionStore['createKey'] = async (key) => {
    return this.#parts.access.write(storeItself, (connection) => {
      const created = createKey(connection, key);
      this.#parts.audit.add(connection, keyNote('key_created', created, key.now));
      return created;
    });
  };

  readonly listKeys: SessionStore['listKeys'] = async () => {
    return this.#parts.access.read(listKeys);
  };

  readonly revokeKey: SessionStore['revokeKey'] = async (keyId, now) => {
    return this.#parts.access.write(storeItself, (connection) => {
      this.#parts.keys.forget();
      const revoked = revokeKey(connection, keyId, now);
      if (revoked?.revoked_at === toTime(now))
        this.#parts.audit.add(connection, keyNote('key_revoked', revoked, now));
      return revoked;
    });
  };

  readonly changeSession: SessionStore['changeSession'] = async (projectId, sessionId, changes) => {
    return this.#parts.access.write(projectId, (connection) =>
      changeSession(connection, projectId, sessionId, changes, this.#parts.dependencies.rules),
    );
  };

  readonly orderSessions: SessionStore['orderSessions'] = async (
    ...[projectId, sessionIds, change, done, idempotencyKey]
  ) => {
    const { rules } = this.#parts.dependencies;
    return this.#parts.writeOnce(projectId, idempotencyKey, (connection) =>
      orderSessions(connection, projectId, sessionIds, { change, done, rules }),
    );
  };

  readonly importSession: SessionStore['importSession'] = async (projectId, record, idempotencyKey, by) => {
    const { connection, writer } = this.#parts.access;
    const audit = (kept: Session | null) =>
      this.#parts.audit.recordSessions(kept, connection, 'import', projectId, by);
    const tools = this.#tools();
    const imported = isShort(record)
      ? await this.#parts.writeOnce(projectId, idempotencyKey, () =>
          importOrReplace(tools, projectId, record, audit),
        )
      : await this.#parts.access.runToEnd(() =>
          importInParts(writer, tools, { projectId, record, idempotencyKey, audit }),
        );
    this.search.keepUpWithImport();
    return imported;
  };

  readonly planPurge: SessionStore['planPurge'] = async (filter) => {
    return this.#parts.access.read((connection) =>
      planPurge(connection, filter, this.#parts.dependencies.sinceBoot()),
    );
  };

  async purgeSessions(filter: PurgeFilter, options: PurgeOptions): Promise<Purge> {
    const { connection, writer, wait } = this.#parts.access;
    const audit = () => this.#parts.audit.addPurge(connection, filter.projectId, options);
    const erased = () => options.erased?.(1);
    const tools = { connection, writer, wait, clocks: this.#parts.clocks, audit, erased };
    return this.#parts.access.run(async () => {
      await this.removeLeftovers();
      // What waits still names sessions by their ids.
      await this.#parts.audit.chain();
      return purgeSessions(tools, filter, options);
    });
  }

  readonly usage: SessionStore['usage'] = async (since, by) => {
    return this.#parts.access.read((connection) => usage(connection, since, by));
  };

  async inspect(): Promise<StoreReport> {
    return this.#parts.access.read((connection) => inspect(connection, this.#parts.dependencies.filesystem));
  }

  #tools(): StepTools {
    const { access, dependencies, clocks, abandonedTools } = this.#parts;
    const { failedEnds } = abandonedTools();
    return { connection: access.connection, rules: dependencies.rules, failedEnds, clocks };
  }
}
