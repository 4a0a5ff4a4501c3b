// The store over SQLite. session-store.ts describes each method, the files of the subjects hold the SQL, and store-access.ts runs it.
// rare-calls.ts has the calls that a turn does not make.
import {
  type IdempotencyKey,
  type Idempotent,
  type KeyHash,
  type SessionStore,
  turnName,
} from '../session-store.ts';
import { TurnWaiters } from '../turn-waiters.ts';
import { type AbandonedTools, abandonedTurn } from './abandoned-turns.ts';
import type { Clocks } from './age-clock.ts';
import { SqliteAudit } from './audit.ts';
import type { Connection } from './connection.ts';
import { Gate } from './gate.ts';
import { doOnce, modeOfTurn } from './idempotency.ts';
import { keyBudgets } from './key-budgets.ts';
import { KeyReads } from './key-reads.ts';
import { mayHoldLeftovers } from './leftovers.ts';
import { replyLockWaitMs } from './lock-wait.ts';
import { history, listAllMessages, listMessages } from './messages.ts';
import type { RareCalls, WriteOnce } from './rare-calls.ts';
import { isBacklogLong } from './search-backlog.ts';
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
import type { StoreProcesses } from './store-processes.ts';
import { beginTurn, endTurn, isFresh, isTurnRunning, leaseLeft, renewTurn } from './turns.ts';

/** A process looks after its first turn, and then after each of so many, whether enough messages wait to be indexed. */
const turnsPerLook = 16;

/** The least time (ms) between two commits of parts. The parts that wait meanwhile share one. */
const partsGateMs = 250;

export class SqliteStore implements SessionStore {
  /** Loads and makes the calls that a turn does not need. */
  readonly #rare: () => Promise<RareCalls>;
  readonly #access: StoreAccess;
  readonly #keys = new KeyReads();
  /** Null if long reads run in this process. */
  readonly #processes: StoreProcesses | null;
  readonly #turnWaiters = new TurnWaiters();
  #endedTurns = 0;
  readonly #partsGate = new Gate(partsGateMs);
  readonly #failedEnds = new Set<string>();
  readonly #dependencies: StoreDependencies;
  readonly budgets: SessionStore['budgets'];
  readonly audit: SqliteAudit;
  readonly createKey: SessionStore['createKey'] = async (...call) => (await this.#rare()).createKey(...call);
  readonly listKeys: SessionStore['listKeys'] = async () => (await this.#rare()).listKeys();
  readonly revokeKey: SessionStore['revokeKey'] = async (...call) => (await this.#rare()).revokeKey(...call);
  readonly changeSession: SessionStore['changeSession'] = async (...call) =>
    (await this.#rare()).changeSession(...call);
  readonly orderSessions: SessionStore['orderSessions'] = async (...call) =>
    (await this.#rare()).orderSessions(...call);
  readonly importSession: SessionStore['importSession'] = async (...call) =>
    (await this.#rare()).importSession(...call);
  readonly planPurge: SessionStore['planPurge'] = async (...call) => (await this.#rare()).planPurge(...call);
  readonly purgeSessions: SessionStore['purgeSessions'] = async (...call) =>
    (await this.#rare()).purgeSessions(...call);
  readonly usage: SessionStore['usage'] = async (...call) => (await this.#rare()).usage(...call);
  readonly inspect: SessionStore['inspect'] = async () => (await this.#rare()).inspect();
  readonly beginRegeneration: SessionStore['beginRegeneration'] = async (...call) =>
    (await this.#rare()).lines.beginRegeneration(...call);
  readonly undoTurn: SessionStore['undoTurn'] = async (...call) =>
    (await this.#rare()).lines.undoTurn(...call);
  readonly redoTurn: SessionStore['redoTurn'] = async (...call) =>
    (await this.#rare()).lines.redoTurn(...call);
  readonly forkSession: SessionStore['forkSession'] = async (...call) =>
    (await this.#rare()).lines.forkSession(...call).finally(() => this.#keepUp());
  readonly redactions: SessionStore['redactions'] = async () => (await this.#rare()).redactions();
  readonly retention: SessionStore['retention'] = async () => (await this.#rare()).retention();
  readonly ofUsers: SessionStore['ofUsers'] = async () => (await this.#rare()).users();

  constructor(connection: Connection, dependencies: StoreDependencies) {
    this.#access = new StoreAccess(connection, dependencies.wait, dependencies);
    this.audit = new SqliteAudit(this.#access, dependencies.rules);
    this.budgets = keyBudgets(this.#access, dependencies.now);
    this.#dependencies = dependencies;
    const { path, driver } = connection;
    const place = { path, lockWaitMs: dependencies.wait.waitMs, driver: driver.name };
    const processes = dependencies.processes?.(place) ?? null;
    this.#processes = processes;
    let rare: Promise<RareCalls> | null = null;
    const parts = {
      ...{ access: this.#access, keys: this.#keys, audit: this.audit, turnWaiters: this.#turnWaiters },
      ...{ dependencies, processes, clocks: () => this.#clocks() },
      abandonedTools: () => this.#abandonedTools(),
      writeOnce: this.#writeOnce.bind(this) as WriteOnce,
    };
    this.#rare = () => {
      rare ??= import('./rare-calls.ts').then(
        ({ RareCalls }) => new RareCalls(parts),
        (error) => {
          rare = null; // The next call tries again.
          throw error;
        },
      );
      return rare;
    };
  }

  readonly findKey: SessionStore['findKey'] = (hash) =>
    this.#access.read((connection) => this.#keys.find(connection, hash));

  readonly createSession: SessionStore['createSession'] = (projectId, session, key, keyHash = null) => {
    const create = (connection: Connection) => createSession(connection, projectId, session);
    return this.#writeOnce(projectId, key, create, keyHash);
  };

  readonly findSession: SessionStore['findSession'] = (projectId, sessionId, keyHash = null) => {
    return this.#access.read((connection) => {
      this.#keys.check(connection, projectId, keyHash);
      return findSession(connection, projectId, sessionId);
    });
  };

  readonly deleteSession: SessionStore['deleteSession'] = (projectId, sessionId, now, by, keyHash = null) =>
    this.#access.write(projectId, (connection) => {
      this.#keys.check(connection, projectId, keyHash);
      const deleted = deleteSession(connection, projectId, sessionId, now);
      return this.audit.recordSessions(deleted, connection, 'delete', projectId, by);
    });

  readonly restoreSession: SessionStore['restoreSession'] = (projectId, sessionId, key, by) =>
    this.#writeOnce(projectId, key, (connection) => {
      const restored = restoreSession(connection, projectId, sessionId, this.#dependencies.now());
      return this.audit.recordSessions(restored, connection, 'restore', projectId, by);
    });

  readonly deleteSessions: SessionStore['deleteSessions'] = (projectId, sessionIds, now, key, by) =>
    this.#writeOnce(projectId, key, (connection) => {
      const items = deleteSessions(connection, projectId, sessionIds, now);
      return this.audit.recordSessions(items, connection, 'delete', projectId, by);
    });

  readonly restoreSessions: SessionStore['restoreSessions'] = (projectId, sessionIds, key, by) =>
    this.#writeOnce(projectId, key, (connection) => {
      const items = restoreSessions(connection, projectId, sessionIds, this.#dependencies.now());
      return this.audit.recordSessions(items, connection, 'restore', projectId, by);
    });

  readonly listSessions: SessionStore['listSessions'] = (projectId, filter) => {
    const processes = this.#processes;
    return this.#access.readInSteps(
      projectId,
      (connection) => listSessions(connection, projectId, filter),
      processes?.isAvailable ? () => processes.list(projectId, filter) : null,
    );
  };

  readonly searchSessions: SessionStore['searchSessions'] = async (
    projectId,
    filter,
    signal,
    keyHash = null,
    notice,
  ) => {
    await this.#access.read((connection) => this.#keys.check(connection, projectId, keyHash));
    return (await this.#rare()).search.search(projectId, filter, signal, notice);
  };

  readonly listMessages: SessionStore['listMessages'] = (projectId, sessionId, place) =>
    this.#readAfterEnd(projectId, sessionId, (connection) =>
      listMessages(connection, projectId, sessionId, place),
    );

  readonly listAllMessages: SessionStore['listAllMessages'] = (projectId, sessionId, place) =>
    this.#readAfterEnd(projectId, sessionId, (connection) =>
      listAllMessages(connection, projectId, sessionId, place),
    );

  readonly beginTurn: SessionStore['beginTurn'] = (projectId, start, signal) => {
    const begin = (connection: Connection) => {
      this.#keys.check(connection, projectId, start.keyHash ?? null);
      return beginTurn(this.#turnTools(), projectId, start);
    };
    return this.#access.write(projectId, begin, signal);
  };

  readonly modeOfTurn: SessionStore['modeOfTurn'] = (projectId, idempotencyKey) =>
    this.#access.read(() => modeOfTurn(this.#turnTools(), projectId, idempotencyKey));

  readonly waitForTurn: SessionStore['waitForTurn'] = (projectId, turn, waitMs, signal) => {
    const isRunning = () => this.#access.read(() => isTurnRunning(this.#turnTools(), projectId, turn));
    return this.#turnWaiters.wait(turn.session_id, isRunning, waitMs, signal);
  };

  readonly history: SessionStore['history'] = (projectId, sessionId, before, limit) => {
    return this.#access.read((connection) => history(connection, projectId, sessionId, before, limit));
  };

  readonly renewTurn: SessionStore['renewTurn'] = async (projectId, turn, leaseMs, part = null) => {
    const left = await this.#access.read(() => leaseLeft(this.#turnTools(), projectId, turn));
    if (left === null) return false;
    if (part === null && isFresh(left, leaseMs)) return true;
    if (part !== null) await this.#partsGate.pass();
    return this.#access.write(projectId, () => renewTurn(this.#turnTools(), projectId, turn, leaseMs, part));
  };

  readonly endTurn: SessionStore['endTurn'] = async (projectId, turn, reply) => {
    // The caller's time-out does not count here: the reply was already shown, so it must be stored.
    const options = { party: projectId, waitMs: replyLockWaitMs };
    const write = () => endTurn(this.#turnTools(), projectId, turn, reply);
    const ended = await this.#access
      .run(() => this.#access.writer.write(write, options))
      .catch((error) => {
        this.#failedEnds.add(turnName(turn));
        throw error;
      });
    this.#turnWaiters.wake(turn.session_id);
    if (this.#endedTurns % turnsPerLook === 0) this.#keepUp();
    this.#endedTurns += 1;
    return ended;
  };

  readonly holdsAny: SessionStore['holdsAny'] = (projectId, sessionIds) =>
    this.#access.read((connection) => holdsAny(connection, projectId, sessionIds));

  /** Ends the turns, and removes the staged sessions, of processes that are gone. */
  readonly removeLeftovers = async (): Promise<void> => {
    if (mayHoldLeftovers(this.#access.connection)) await (await this.#rare()).removeLeftovers();
  };

  readonly ping = () => this.#access.ping();

  /** Waits for the pending writes. A later call rejects. */
  async close(): Promise<void> {
    const closing = this.audit.end().then(() => this.#access.close());
    await Promise.all([closing, this.#processes?.close()]);
  }

  /** Reads messages of a session. If its turn is abandoned, it is ended before. */
  async #readAfterEnd<T>(
    projectId: string,
    sessionId: string,
    work: (connection: Connection) => T,
  ): Promise<T> {
    const first = await this.#access.read((connection) => {
      const isAbandoned = abandonedTurn(this.#abandonedTools(), projectId, sessionId) !== null;
      return isAbandoned ? null : { value: work(connection) };
    });
    if (first !== null) return first.value;
    await (await this.#rare()).endAbandonedTurn(projectId, sessionId);
    return this.#access.read(work);
  }

  /** Starts indexing if enough messages wait. The next call repeats what fails here. */
  async #keepUp(): Promise<void> {
    try {
      if (isBacklogLong(this.#access.connection)) (await this.#rare()).search.keepUp();
    } catch {}
  }

  /** Made when a write runs, not when it is requested: the write may wait for a lock in between. */
  #turnTools() {
    const { rules } = this.#dependencies;
    return { connection: this.#access.connection, rules, failedEnds: this.#failedEnds, ...this.#clocks() };
  }

  #abandonedTools(): AbandonedTools {
    const { stateOf, sinceBoot } = this.#dependencies;
    const failedEnds = this.#failedEnds;
    return { connection: this.#access.connection, clock: sinceBoot(), stateOf, failedEnds };
  }

  #clocks(): Clocks {
    return { now: this.#dependencies.now(), clock: this.#dependencies.sinceBoot() };
  }

  #writeOnce<T>(
    projectId: string,
    idempotencyKey: IdempotencyKey | null,
    work: (connection: Connection) => T,
    keyHash: KeyHash = null,
  ): Promise<Idempotent<T>> {
    return this.#access.write(projectId, (connection) => {
      this.#keys.check(connection, projectId, keyHash);
      return doOnce(this.#turnTools(), projectId, idempotencyKey, () => work(connection));
    });
  }
}
