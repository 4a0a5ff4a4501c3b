// The store over SQLite. session-store.ts describes each method, the files of the subjects hold the SQL, and store-access.ts runs it.
import type { Message, NewSession, Session } from '../../service/session.ts';
import { keyNote } from '../audit-log.ts';
import type { FoundKey } from '../key-budgets.ts';
import { toTime } from '../rows.ts';
import type { MessagePlace, PurgeFilter, Rows, SessionFilter } from '../session-filters.ts';
import type {
  IdempotencyKey,
  Idempotent,
  KeyHash,
  Purge,
  PurgeOptions,
  SessionStart,
  SessionStore,
  Turn,
  TurnBegin,
  TurnEnd,
  TurnReply,
  TurnStart,
} from '../session-store.ts';
import { storeClosed } from '../store-closed.ts';
import { TurnWaiters } from '../turn-waiters.ts';
import type { Clocks } from './age-clock.ts';
import { SqliteAudit } from './audit.ts';
import type { Connection } from './connection.ts';
import { doOnce } from './idempotency.ts';
import { inspect } from './inspection.ts';
import { SqliteKeyBudgets } from './key-budgets.ts';
import { KeyReads } from './key-reads.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { history, listMessages } from './listings.ts';
import { replyLockWaitMs } from './lock-wait.ts';
import { importInParts, isShort } from './long-import.ts';
import { changeSession, orderSessions } from './ordering.ts';
import { removeAbandoned } from './parted-session.ts';
import { planPurge, purgeSessions } from './purge.ts';
import { Redactions } from './redactions.ts';
import { importOrReplace } from './replaced-session.ts';
import { SqliteRetention } from './retention.ts';
import { listSessions } from './session-pages.ts';
import {
  createSession,
  deleteSession,
  deleteSessions,
  findSession,
  holdsAny,
  restoreSession,
  restoreSessions,
} from './sessions.ts';
import { StoreAccess } from './store-access.ts';
import type { StoreDependencies } from './store-dependencies.ts';
import { StoreLines } from './store-lines.ts';
import type { StoreProcesses } from './store-processes.ts';
import { StoreSearch } from './store-search.ts';
import { beginTurn, endTurn, isTurnRunning, leaseLeft, renewTurn } from './turns.ts';
import { usage } from './usage.ts';
import { storeItself } from './writer.ts';

export class SqliteStore implements SessionStore {
  readonly #access: StoreAccess;
  readonly #keys = new KeyReads();
  readonly #search: StoreSearch;
  /** Null if long reads run in this process. */
  readonly #processes: StoreProcesses | null;
  readonly #turnWaiters = new TurnWaiters();
  readonly #dependencies: StoreDependencies;
  readonly #lines: StoreLines;
  readonly budgets: SqliteKeyBudgets;
  readonly audit: SqliteAudit;
  readonly redactions: SessionStore['redactions'];
  readonly retention: SessionStore['retention'];
  readonly listAllMessages: SessionStore['listAllMessages'] = (...call) =>
    this.#lines.listAllMessages(...call);
  readonly beginRegeneration: SessionStore['beginRegeneration'] = (...call) =>
    this.#lines.beginRegeneration(...call);
  readonly undoTurn: SessionStore['undoTurn'] = (...call) => this.#lines.undoTurn(...call);
  readonly redoTurn: SessionStore['redoTurn'] = (...call) => this.#lines.redoTurn(...call);
  readonly forkSession: SessionStore['forkSession'] = (...call) =>
    this.#lines.forkSession(...call).finally(() => this.#search.keepUp());

  constructor(connection: Connection, dependencies: StoreDependencies) {
    this.#access = new StoreAccess(connection, dependencies.wait, dependencies.endsWithProcess);
    this.audit = new SqliteAudit(this.#access, dependencies.rules);
    this.budgets = new SqliteKeyBudgets(this.#access, dependencies.now);
    this.#dependencies = dependencies;
    const { path, driver } = connection;
    const place = { path, lockWaitMs: dependencies.wait.waitMs, driver: driver.name };
    const processes = dependencies.processes?.(place) ?? null;
    this.#processes = processes;
    this.#search = new StoreSearch(this.#access, processes, dependencies.rules);
    this.#lines = new StoreLines(this.#access, dependencies, this.#turnWaiters);
    this.redactions = () => new Redactions(this.#access, () => this.#clocks());
    this.retention = () => new SqliteRetention(this.#access, this.audit, () => this.#clocks());
  }

  findKey(hash: Uint8Array): Promise<FoundKey | null> {
    return this.#access.read((connection) => this.#keys.find(connection, hash));
  }

  readonly createKey: SessionStore['createKey'] = (key) =>
    this.#access.write(storeItself, (connection) => {
      const created = createKey(connection, key);
      this.audit.add(connection, keyNote('key_created', created, key.now));
      return created;
    });

  readonly listKeys: SessionStore['listKeys'] = () => this.#access.read(listKeys);

  readonly revokeKey: SessionStore['revokeKey'] = (keyId, now) =>
    this.#access.write(storeItself, (connection) => {
      this.#keys.forget();
      const revoked = revokeKey(connection, keyId, now);
      if (revoked?.revoked_at === toTime(now))
        this.audit.add(connection, keyNote('key_revoked', revoked, now));
      return revoked;
    });

  createSession(
    projectId: string,
    session: SessionStart,
    once: IdempotencyKey | null,
    keyHash: KeyHash = null,
  ): Promise<Idempotent<NewSession>> {
    const create = (connection: Connection) => createSession(connection, projectId, session);
    return this.#writeOnce(projectId, once, create, keyHash);
  }

  findSession(projectId: string, sessionId: string, keyHash: KeyHash = null): Promise<Session | null> {
    return this.#access.read((connection) => {
      this.#keys.check(connection, projectId, keyHash);
      return findSession(connection, projectId, sessionId);
    });
  }

  readonly deleteSession: SessionStore['deleteSession'] = (projectId, sessionId, now, by) =>
    this.#access.write(projectId, (connection) => {
      const deleted = deleteSession(connection, projectId, sessionId, now);
      return this.audit.with(deleted, connection, 'delete', projectId, by);
    });

  readonly changeSession: SessionStore['changeSession'] = (projectId, sessionId, changes) =>
    this.#access.write(projectId, (connection) =>
      changeSession(connection, projectId, sessionId, changes, this.#dependencies.rules),
    );

  readonly orderSessions: SessionStore['orderSessions'] = (projectId, sessionIds, change, done, once) => {
    const { rules } = this.#dependencies;
    return this.#writeOnce(projectId, once, (connection) =>
      orderSessions(connection, projectId, sessionIds, { change, done, rules }),
    );
  };

  readonly restoreSession: SessionStore['restoreSession'] = (projectId, sessionId, once, by) =>
    this.#writeOnce(projectId, once, (connection) => {
      const restored = restoreSession(connection, projectId, sessionId, this.#dependencies.now());
      return this.audit.with(restored, connection, 'restore', projectId, by);
    });

  readonly deleteSessions: SessionStore['deleteSessions'] = (projectId, sessionIds, now, once, by) =>
    this.#writeOnce(projectId, once, (connection) => {
      const items = deleteSessions(connection, projectId, sessionIds, now);
      return this.audit.with(items, connection, 'delete', projectId, by);
    });

  readonly restoreSessions: SessionStore['restoreSessions'] = (projectId, sessionIds, once, by) =>
    this.#writeOnce(projectId, once, (connection) => {
      const items = restoreSessions(connection, projectId, sessionIds, this.#dependencies.now());
      return this.audit.with(items, connection, 'restore', projectId, by);
    });

  listSessions(projectId: string, filter: SessionFilter): Promise<Rows<Session>> {
    const processes = this.#processes;
    return this.#access.readInSteps(
      projectId,
      (connection) => listSessions(connection, projectId, filter),
      processes && (() => processes.list(projectId, filter)),
    );
  }

  readonly searchSessions: SessionStore['searchSessions'] = async (project, filter, signal, key = null) => {
    await this.#access.read((connection) => this.#keys.check(connection, project, key));
    return this.#search.search(project, filter, signal);
  };

  listMessages(projectId: string, sessionId: string, place: MessagePlace): Promise<Rows<Message> | null> {
    return this.#access.read((connection) => listMessages(connection, projectId, sessionId, place));
  }

  readonly importSession: SessionStore['importSession'] = async (projectId, record, once, by) => {
    const { connection, writer } = this.#access;
    const told = (kept: Session | null) => this.audit.with(kept, connection, 'import', projectId, by);
    const { rules } = this.#dependencies;
    const tools = { connection, rules, clocks: () => this.#clocks() };
    const imported = isShort(record)
      ? await this.#writeOnce(projectId, once, (connection) => {
          const before = by && findSession(connection, projectId, record.session.session_id);
          const kept = importOrReplace(tools, projectId, record);
          return kept && before && rules.isSame(kept, before) ? kept : told(kept);
        })
      : await this.#access.runToEnd(() => importInParts(writer, tools, { projectId, record, once, told }));
    this.#search.keepUp();
    return imported;
  };

  beginTurn(projectId: string, start: TurnStart, signal?: AbortSignal): Promise<TurnBegin> {
    const begin = (connection: Connection) => {
      this.#keys.check(connection, projectId, start.keyHash ?? null);
      return beginTurn(this.#turnTools(), projectId, start);
    };
    return this.#access.write(projectId, begin, signal);
  }

  waitForTurn(
    projectId: string,
    turn: Pick<Turn, 'session_id' | 'epoch'>,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const isRunning = () => this.#access.read(() => isTurnRunning(this.#turnTools(), projectId, turn));
    return this.#turnWaiters.wait(turn.session_id, isRunning, waitMs, signal);
  }

  history(projectId: string, sessionId: string, before: number, limit: number): Promise<readonly Message[]> {
    return this.#access.read((connection) => history(connection, projectId, sessionId, before, limit));
  }

  async renewTurn(projectId: string, turn: Turn, leaseMs: number): Promise<boolean> {
    const left = await this.#access.read(() => leaseLeft(this.#turnTools(), projectId, turn));
    if (left === null) return false;
    if (left > (leaseMs * 2) / 3) return true;
    return this.#access.write(projectId, () => renewTurn(this.#turnTools(), projectId, turn, leaseMs));
  }

  async endTurn(projectId: string, turn: Turn, reply: TurnReply): Promise<TurnEnd> {
    // The caller's time-out does not count here: the reply was already shown, so it must be stored.
    const options = { party: projectId, waitMs: replyLockWaitMs };
    const write = () => endTurn(this.#turnTools(), projectId, turn, reply);
    const ended = await this.#access.run(() => this.#access.writer.write(write, options));
    this.#turnWaiters.wake(turn.session_id);
    this.#search.keepUp();
    return ended;
  }

  readonly planPurge: SessionStore['planPurge'] = (filter) =>
    this.#access.read((connection) => planPurge(connection, filter, this.#dependencies.sinceBoot()));

  purgeSessions(filter: PurgeFilter, options: PurgeOptions): Promise<Purge> {
    const { connection, writer, wait } = this.#access;
    const told = () => this.audit.addPurge(connection, filter.projectId, options);
    const tools = { connection, writer, wait, clocks: () => this.#clocks(), told };
    return this.#access.run(async () => {
      await this.removeAbandoned();
      // What waits still names sessions by their ids.
      await this.audit.chain();
      return purgeSessions(tools, filter, options);
    });
  }

  readonly holdsAny: SessionStore['holdsAny'] = (projectId, sessionIds) =>
    this.#access.read((connection) => holdsAny(connection, projectId, sessionIds));

  readonly usage: SessionStore['usage'] = (since, by) =>
    this.#access.read((connection) => usage(connection, since, by));

  readonly inspect: SessionStore['inspect'] = () =>
    this.#access.read((connection) => inspect(connection, this.#dependencies.filesystem));

  readonly removeAbandoned = () => removeAbandoned(this.#access, this.#dependencies.sinceBoot());

  readonly ping = () => this.#access.ping(storeItself);

  /** Waits for the pending writes. A later call rejects. */
  async close(): Promise<void> {
    const closing = this.audit.end().then(() => this.#access.close());
    await Promise.all([closing, this.#processes?.close(storeClosed())]);
  }

  /** Made when a write runs, not when it is requested: the write may wait for a lock in between. */
  #turnTools() {
    return { connection: this.#access.connection, rules: this.#dependencies.rules, ...this.#clocks() };
  }

  #clocks(): Clocks {
    return { now: this.#dependencies.now(), clock: this.#dependencies.sinceBoot() };
  }

  #writeOnce<T>(
    projectId: string,
    once: IdempotencyKey | null,
    work: (connection: Connection) => T,
    keyHash: KeyHash = null,
  ): Promise<Idempotent<T>> {
    return this.#access.write(projectId, (connection) => {
      this.#keys.check(connection, projectId, keyHash);
      return doOnce(this.#turnTools(), projectId, once, () => work(connection));
    });
  }
}
