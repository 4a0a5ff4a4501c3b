// The store over PostgreSQL. session-store.ts describes each method, and the files of the subjects hold the SQL. Calls of one kind that
// wait at the same moment are one statement (groups.ts).
import { changesOrdering } from '../order-change.ts';
import type { IdempotencyKey, Idempotent, SessionStore } from '../session-store.ts';
import type { StoreRules } from '../store-rules.ts';
import { TurnWaiters } from '../turn-waiters.ts';
import { listAllMessages } from './all-messages.ts';
import { PostgresAudit } from './audit.ts';
import { type CallGroups, callGroups } from './call-groups.ts';
import type { Ask, ConnectionPool } from './connection-pool.ts';
import { doOnce, doWithOwnKey, type IdempotencyTools, modeOfTurn } from './idempotency.ts';
import { checkWritable, inspect } from './inspection.ts';
import { PostgresKeyBudgets } from './key-budgets.ts';
import { accepted, createKey, listKeys, revokeKey } from './keys.ts';
import { listMessages } from './messages.ts';
import { refuseMigrated } from './migrations.ts';
import { changeSession, orderSessions } from './ordering.ts';
import { OrphanedTurns } from './orphaned-turns.ts';
import { isOfStatement } from './postgres-errors.ts';
import { planPurge, purgeSessions } from './purge.ts';
import { storeRedactions } from './redactions.ts';
import { importOrReplace } from './replaced-session.ts';
import { PostgresRetention } from './retention.ts';
import { searchReads } from './search.ts';
import { SearchIndex } from './search-index.ts';
import type { ServerBeat } from './servers.ts';
import { listSessions } from './session-pages.ts';
import {
  changeTexts,
  deleteSession,
  deleteSessions,
  holdsAny,
  restoreSession,
  restoreSessions,
} from './sessions.ts';
import { storeLines } from './store-lines.ts';
import { Sweeps } from './sweeps.ts';
import { beginAnswered } from './turn-begins.ts';
import { usage } from './usage.ts';
import { userSessions } from './user-sessions.ts';

interface StoreDependencies {
  /** The store without user and password, for errors. */
  readonly name: string;
  /** The version of the schema that the store was opened with. */
  readonly schema: number;
  readonly now: () => number;
  readonly rules: StoreRules;
  /** Null for a process that does not serve. */
  readonly beat: ServerBeat | null;
}

export class PostgresStore implements SessionStore {
  readonly #connections: ConnectionPool;
  readonly #name: string;
  readonly #schema: number;
  readonly #now: () => number;
  readonly #tools: IdempotencyTools;
  readonly #searchIndex: SearchIndex;
  readonly #sweeps: Sweeps;
  readonly #groups: CallGroups;
  readonly #beat: ServerBeat | null;
  /** The owner of the turns of this process if it serves, otherwise null. */
  readonly #server: string | null;
  readonly #turnWaiters = new TurnWaiters();
  readonly #orphanedTurns: OrphanedTurns | null;
  readonly #lines: ReturnType<typeof storeLines>;
  readonly budgets = new PostgresKeyBudgets((call) => this.#run(call));
  readonly audit: PostgresAudit;
  readonly redactions: SessionStore['redactions'];
  readonly retention: SessionStore['retention'];
  readonly ofUsers: SessionStore['ofUsers'];

  constructor(connections: ConnectionPool, { name, schema, now, rules, beat }: StoreDependencies) {
    this.#connections = connections;
    this.audit = new PostgresAudit(connections, rules, (call) => this.#run(call));
    this.#name = name;
    this.#schema = schema;
    this.#now = now;
    const keptMs: IdempotencyTools['keptMs'] = ({ keptSince }) => Math.max(0, now() - keptSince);
    const tools = { connections, rules, keptMs };
    this.#tools = tools;
    this.#sweeps = new Sweeps(tools);
    this.#searchIndex = new SearchIndex(connections, () => rules.loadSearch());
    this.#beat = beat;
    const server = beat?.owner ?? null;
    this.#server = server;
    this.#groups = callGroups(tools, server);
    this.#orphanedTurns = server === null ? null : new OrphanedTurns(connections.ask, server);
    this.#lines = storeLines(tools, server, this.#orphanedTurns, this.#sweeps, this.#searchIndex);
    this.redactions = async () => storeRedactions(tools, (call) => this.#audited(call));
    this.retention = async () => new PostgresRetention(tools, (call) => this.#audited(call));
    this.ofUsers = async () => userSessions((call) => this.#run(call));
    // What fails is tried after the next beat.
    if (beat !== null) beat.onBeat = () => void this.#orphanedTurns?.giveBack().catch(() => {});
  }

  readonly findKey: SessionStore['findKey'] = (hash) => {
    return this.#run(() => this.#groups.keyReads.add(hash));
  };

  readonly createKey: SessionStore['createKey'] = (key) =>
    this.#audited(() => this.#connections.transaction((ask) => createKey(ask, key)));

  readonly listKeys = () => this.#run(listKeys);

  readonly revokeKey: SessionStore['revokeKey'] = (keyId, now) =>
    this.#audited(() => this.#connections.transaction((ask) => revokeKey(ask, keyId, now)));

  readonly createSession: SessionStore['createSession'] = (projectId, session, key, keyHash = null) => {
    this.#sweeps.sweep(key);
    const creation = { projectId, session, idempotencyKey: key, keyHash };
    return this.#run(async () => accepted(await this.#groups.creations.add(creation)));
  };

  readonly findSession: SessionStore['findSession'] = (projectId, sessionId, keyHash = null) => {
    const named = { projectId, sessionId, keyHash };
    return this.#run(async () => accepted(await this.#groups.sessionReads.add(named)));
  };

  readonly deleteSession: SessionStore['deleteSession'] = (projectId, sessionId, now, by, keyHash = null) =>
    this.#audited((ask) => deleteSession(ask, projectId, sessionId, now, by, keyHash));

  readonly changeSession: SessionStore['changeSession'] = (projectId, sessionId, changes) => {
    const { rules } = this.#tools;
    return this.#run((ask) =>
      changesOrdering(changes)
        ? this.#connections.transaction((within) =>
            changeSession(within, projectId, sessionId, changes, rules),
          )
        : changeTexts(ask, projectId, sessionId, changes),
    );
  };

  readonly orderSessions: SessionStore['orderSessions'] = (projectId, sessionIds, change, done, key) => {
    const { rules } = this.#tools;
    const order = (ask: Ask) => orderSessions(ask, projectId, sessionIds, { change, done, rules });
    if (key !== null) return this.#once(projectId, key, order);
    return this.#run(async () => ({
      kind: 'done',
      value: await doWithOwnKey(this.#tools, projectId, order),
    }));
  };

  readonly restoreSession: SessionStore['restoreSession'] = (projectId, sessionId, key, by) =>
    this.#once(projectId, key, (ask) => restoreSession(ask, projectId, sessionId, this.#now(), by));

  readonly deleteSessions: SessionStore['deleteSessions'] = (projectId, sessionIds, now, key, by) =>
    this.#once(projectId, key, (ask) => deleteSessions(ask, projectId, sessionIds, now, by));

  readonly restoreSessions: SessionStore['restoreSessions'] = (projectId, sessionIds, key, by) =>
    this.#once(projectId, key, (ask) => restoreSessions(ask, projectId, sessionIds, this.#now(), by));

  readonly listSessions: SessionStore['listSessions'] = (projectId, filter) => {
    return this.#run((ask) => listSessions(ask, projectId, filter));
  };

  readonly listMessages: SessionStore['listMessages'] = (projectId, sessionId, place) =>
    this.#run((ask) => listMessages(ask, projectId, sessionId, place, this.#server));

  readonly listAllMessages: SessionStore['listAllMessages'] = (projectId, sessionId, place) =>
    this.#run((ask) => listAllMessages(ask, projectId, sessionId, place, this.#server));

  readonly searchSessions: SessionStore['searchSessions'] = (
    projectId,
    filter,
    signal,
    keyHash = null,
    notice,
  ) =>
    this.#run(async (ask) => {
      const rules = await this.#tools.rules.loadSearch();
      const search = { projectId, filter, keyHash };
      const indexed = accepted(await this.#searchIndex.keepShort(search, signal, notice));
      return rules.search(filter, searchReads(ask, rules, indexed, filter));
    }, signal);

  readonly importSession: SessionStore['importSession'] = async (projectId, record, key, by) => {
    const { rules } = this.#tools;
    const imported = await this.#once(projectId, key, (ask) =>
      importOrReplace(ask, rules, projectId, { record, by, judge: this.#server }),
    );
    this.#searchIndex.keepUp(record.messages.length);
    return imported;
  };

  readonly beginTurn: SessionStore['beginTurn'] = (projectId, start, signal) => {
    return this.#run(async () => {
      signal?.throwIfAborted();
      this.#sweeps.sweep(start.idempotencyKey);
      const call = { projectId, start };
      const begin = start.answersOnly ? beginAnswered(this.#tools, call) : this.#groups.begins.add(call);
      return accepted(await (this.#orphanedTurns?.followBegin(projectId, start, begin) ?? begin));
    }, signal);
  };

  readonly beginRegeneration: SessionStore['beginRegeneration'] = (projectId, start, signal) =>
    this.#run(() => this.#lines.begin(projectId, start, signal), signal);

  readonly undoTurn: SessionStore['undoTurn'] = (projectId, move, signal) =>
    this.#run(() => this.#lines.undo(projectId, move, signal), signal);

  readonly redoTurn: SessionStore['redoTurn'] = (projectId, move, signal) =>
    this.#run(() => this.#lines.redo(projectId, move, signal), signal);

  readonly forkSession: SessionStore['forkSession'] = (projectId, fork, key) =>
    this.#run(() => this.#lines.fork(projectId, fork, key));

  readonly modeOfTurn: SessionStore['modeOfTurn'] = (projectId, key) =>
    this.#run(() => modeOfTurn(this.#tools, projectId, key));

  readonly waitForTurn: SessionStore['waitForTurn'] = (projectId, turn, waitMs, signal) => {
    const isRunning = () => this.#run(() => this.#groups.runningReads.add({ projectId, turn }));
    return this.#turnWaiters.wait(turn.session_id, isRunning, waitMs, signal);
  };

  readonly history: SessionStore['history'] = (projectId, sessionId, before, limit) => {
    return this.#run(() => this.#groups.histories.add({ projectId, sessionId, before, limit }));
  };

  readonly renewTurn: SessionStore['renewTurn'] = (projectId, turn, leaseMs, part = null) => {
    return this.#run(() => this.#groups.renewals.add({ projectId, turn, leaseMs, part }));
  };

  readonly endTurn: SessionStore['endTurn'] = async (projectId, turn, reply) => {
    const end = this.#run(() => this.#groups.ends.add({ projectId, turn, reply }));
    const ended = await (this.#orphanedTurns?.followEnd(projectId, turn, end) ?? end);
    this.#turnWaiters.wake(turn.session_id);
    this.#searchIndex.keepUp(2);
    return ended;
  };

  readonly holdsAny: SessionStore['holdsAny'] = (projectId, sessionIds) => {
    return this.#run((ask) => holdsAny(ask, projectId, sessionIds));
  };

  readonly usage: SessionStore['usage'] = (since, by) => this.#run((ask) => usage(ask, since, by));

  readonly planPurge: SessionStore['planPurge'] = (filter) => this.#run((ask) => planPurge(ask, filter));

  readonly purgeSessions: SessionStore['purgeSessions'] = async (filter, options) => {
    const keptMs = this.#tools.keptMs(options);
    await this.audit.chain();
    return this.#audited(() => purgeSessions(this.#connections, filter, options, keptMs));
  };

  readonly inspect: SessionStore['inspect'] = () => this.#run((ask) => inspect(ask, this.#name));

  readonly ping = () => this.#run(() => checkWritable(this.#connections, this.#name, this.#schema));

  async close(): Promise<void> {
    await this.#beat?.stop();
    await this.audit.end();
    await this.#connections.close();
    await Promise.all([this.#searchIndex.idle(), this.#sweeps.idle(), this.budgets.idle()]);
  }

  #once<T>(
    projectId: string,
    key: IdempotencyKey | null,
    work: (ask: Ask) => Promise<T>,
  ): Promise<Idempotent<T>> {
    this.#sweeps.sweep(key);
    return this.#audited(() => doOnce(this.#tools, projectId, key, work));
  }

  /** Runs a call that may add to the audit log. */
  #audited<T>(call: (ask: Ask) => Promise<T>): Promise<T> {
    this.audit.notify();
    return this.#run(call);
  }

  /** Runs any call. Its error becomes a `ParleyError`. */
  async #run<T>(call: (ask: Ask) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await call(this.#connections.ask);
    } catch (error) {
      if (signal?.aborted && error === signal.reason) throw error;
      // A newer schema may lack a table that this program asks for.
      if (isOfStatement(error)) await refuseMigrated(this.#connections.ask, this.#name, this.#schema);
      throw this.#connections.failureOf(error);
    }
  }
}
