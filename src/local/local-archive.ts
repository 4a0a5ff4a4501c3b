// The archive of the embedded service: lists, searches, reads, renames, deletes, restores and imports sessions. Every chat creates one, so code
// that only some calls need is loaded by these calls.
import type { Call } from '../service/call.ts';
import type { ChatEvent, ReplyForm } from '../service/chat-event.ts';
import { ParleyError } from '../service/errors.ts';
import { type Result, resultOf } from '../service/result.ts';
import type { Message, Page, Session } from '../service/session.ts';
import {
  type BatchResult,
  type ForkRequest,
  type MessageQuery,
  type MovedTurn,
  noConditions,
  type OrderedItem,
  type OrderedResult,
  type RegenerateRequest,
  type SearchPage,
  type SearchRequest,
  type SessionArchive,
  type SessionChanges,
  type SessionQuery,
  type SessionRecord,
  type TagChange,
} from '../service/session-archive.ts';
import type { OrderChange } from '../store/order-change.ts';
import { readConditions } from './condition-reading.ts';
import {
  anyMessagePage,
  messagePage,
  readAnyMessageCursor,
  readMessageCursor,
  readSearchCursor,
  readSessionCursor,
  sessionPage,
} from './cursors.ts';
import { idempotencyKeyFor, importKeyFor } from './fingerprint.ts';
import type { KeyCheck } from './key-check.ts';
import type { KeyedOperation } from './key-scopes.ts';
import type { LocalOptions } from './local-options.ts';
import { requireFound, requireSameRequest } from './local-service.ts';
import type { ReadExports } from './read-exports.ts';
import type { SessionLines } from './session-lines.ts';
import {
  checkBatch,
  checkChanges,
  checkIdSuffix,
  checkLastPage,
  checkPageLimit,
  checkTagChange,
} from './text-rules.ts';
import { runTurn } from './turn.ts';
import { TurnBudget } from './turn-budget.ts';
import type { TurnQueue } from './turn-queue.ts';

export class LocalArchive implements SessionArchive {
  readonly #local: LocalOptions;
  readonly #keys: KeyCheck;
  readonly #lines: () => Promise<SessionLines>;
  #exports: ReadExports | null = null;

  /** `turnQueue` and `keys`: those of the service over the same store. */
  constructor(local: LocalOptions, turnQueue: TurnQueue, keys: KeyCheck) {
    this.#local = local;
    this.#lines = async () => new (await import('./session-lines.ts')).SessionLines(local, turnQueue);
    this.#keys = keys;
  }

  async listSessions(call: Call, query: SessionQuery): Promise<Result<Page<Session>>> {
    const projectId = await this.#keys.project(call, 'listSessions');
    checkPageLimit(query.limit, this.#local.limits);
    if (query.id_suffix !== null) checkIdSuffix(query.id_suffix);
    const order = { sort: query.sort, order: query.order };
    const rows = await this.#local.store.listSessions(projectId, {
      sort: query.sort,
      order: query.order,
      limit: query.limit,
      after: readSessionCursor(order, query.cursor),
      idSuffix: query.id_suffix,
      deleted: query.deleted,
      ...readConditions(query, this.#local.limits),
    });
    return resultOf(sessionPage(order, rows));
  }

  async searchSessions(call: Call, request: SearchRequest): Promise<Result<SearchPage>> {
    const { limits, store } = this.#local;
    const { query, limit, cursor } = request;
    const { readQuery } = await import('./search-query.ts');
    const { projectId, keyHash, checked } = await this.#keys.access(call, 'searchSessions', () => {
      checkPageLimit(limit, limits);
      const sessions = readConditions({ ...noConditions, ...request }, limits);
      return { sessions, limit, after: readSearchCursor(cursor), ...readQuery(query, limits) };
    });
    const page = store.searchSessions(projectId, checked, call.signal, keyHash, call.notice);
    return resultOf(await this.#keys.recordRefusal(keyHash, page));
  }

  async listMessages(call: Call, sessionId: string, query: MessageQuery): Promise<Result<Page<Message>>> {
    const projectId = await this.#keys.project(call, 'listMessages');
    const exportedBy = call.isExport && query.cursor === null ? this.#keys.origin(call) : null;
    const page = await this.#messages(projectId, sessionId, query);
    if (exportedBy !== null) {
      const { ReadExports } = await import('./read-exports.ts');
      this.#exports ??= new ReadExports(this.#local.store);
      this.#exports.add(projectId, exportedBy, sessionId);
    }
    return page;
  }

  /** Call it before the store is closed. */
  async finish(): Promise<void> {
    await this.#exports?.finish();
  }

  async #messages(projectId: string, sessionId: string, query: MessageQuery): Promise<Result<Page<Message>>> {
    const { limit, cursor, all = false, last = false } = query;
    checkPageLimit(limit, this.#local.limits);
    if (last) checkLastPage(query);
    if (all) {
      const place = { limit, after: readAnyMessageCursor(cursor) };
      const rows = await this.#local.store.listAllMessages(projectId, sessionId, place);
      return resultOf(anyMessagePage(requireFound(rows)));
    }
    const { store } = this.#local;
    const after = last
      ? // The positions of the visible line have no gap.
        requireFound(await store.findSession(projectId, sessionId)).message_count - limit - 1
      : readMessageCursor(cursor);
    const place = { limit, after: after !== null && after < 0 ? null : after };
    return resultOf(messagePage(requireFound(await store.listMessages(projectId, sessionId, place))));
  }

  async changeSession(call: Call, sessionId: string, changes: SessionChanges): Promise<Result<Session>> {
    // A change of one field needs what the batch of that change needs.
    const operation = changes.archived === undefined ? 'changeSession' : 'archiveSessions';
    const projectId = await this.#keys.project(call, operation);
    checkChanges(changes, this.#local.limits);
    return resultOf(requireFound(await this.#local.store.changeSession(projectId, sessionId, changes)));
  }

  async restoreSession(call: Call, sessionId: string): Promise<Result<Session>> {
    const projectId = await this.#keys.project(call, 'restoreSession');
    const by = this.#keys.origin(call);
    const idempotencyKey = await this.#idempotencyKey(call, 'restoreSession', sessionId);
    const restored = await this.#local.store.restoreSession(projectId, sessionId, idempotencyKey, by);
    return resultOf(requireFound(requireSameRequest(restored)));
  }

  async deleteSessions(call: Call, ids: readonly string[]): Promise<Result<BatchResult<'deleted'>>> {
    const projectId = await this.#keys.project(call, 'deleteSessions');
    checkBatch(ids, this.#local.limits);
    const by = this.#keys.origin(call);
    const idempotencyKey = await this.#idempotencyKey(call, 'deleteSessions', ids);
    const { store, now } = this.#local;
    const items = requireSameRequest(await store.deleteSessions(projectId, ids, now(), idempotencyKey, by));
    return resultOf({ items });
  }

  async restoreSessions(call: Call, ids: readonly string[]): Promise<Result<BatchResult<'restored'>>> {
    const projectId = await this.#keys.project(call, 'restoreSessions');
    checkBatch(ids, this.#local.limits);
    const by = this.#keys.origin(call);
    const idempotencyKey = await this.#idempotencyKey(call, 'restoreSessions', ids);
    const items = requireSameRequest(
      await this.#local.store.restoreSessions(projectId, ids, idempotencyKey, by),
    );
    return resultOf({ items });
  }

  pinSessions(call: Call, ids: readonly string[], pinned: boolean) {
    return this.#order(call, 'pinSessions', ids, { pinned }, pinned ? 'pinned' : 'unpinned');
  }

  archiveSessions(call: Call, ids: readonly string[], archived: boolean) {
    return this.#order(call, 'archiveSessions', ids, { archived }, archived ? 'archived' : 'unarchived');
  }

  tagSessions(call: Call, ids: readonly string[], tags: TagChange) {
    return this.#order(call, 'tagSessions', ids, { tags }, 'tagged');
  }

  async importSession(call: Call, record: SessionRecord): Promise<Result<Session>> {
    const projectId = await this.#keys.project(call, 'importSession');
    const by = this.#keys.origin(call);
    const { checkRecord, withSortedTags } = await import('./import-rules.ts');
    await checkRecord(record, this.#local.limits);
    const idempotencyKey = await importKeyFor(this.#local, call, record);
    const session = requireSameRequest(
      await this.#local.store.importSession(projectId, withSortedTags(record), idempotencyKey, by),
    );
    if (session === null && record.replaces !== undefined) throw changedSince(record.session.session_id);
    if (session === null) throw takenId(record.session.session_id);
    return resultOf(session);
  }

  regenerate(
    call: Call,
    sessionId: string,
    request: RegenerateRequest,
    form: ReplyForm,
  ): AsyncIterable<ChatEvent> {
    return runTurn(call, async () => {
      const projectId = await this.#keys.project(call, 'regenerate');
      const budget = new TurnBudget(this.#local.store, this.#keys.budgetOf(call));
      const verify = () => this.#keys.verify(call.apiKey);
      const lines = await this.#lines();
      return lines.beginRegeneration({ call, projectId, budget, verify }, sessionId, request, form);
    });
  }

  async undoTurn(call: Call, sessionId: string): Promise<Result<MovedTurn>> {
    const projectId = await this.#keys.project(call, 'undoTurn');
    return resultOf(await (await this.#lines()).move(call, projectId, sessionId, 'undoTurn'));
  }

  async redoTurn(call: Call, sessionId: string): Promise<Result<MovedTurn>> {
    const projectId = await this.#keys.project(call, 'redoTurn');
    return resultOf(await (await this.#lines()).move(call, projectId, sessionId, 'redoTurn'));
  }

  async forkSession(call: Call, sessionId: string, request: ForkRequest): Promise<Result<Session>> {
    const projectId = await this.#keys.project(call, 'forkSession');
    return resultOf(await (await this.#lines()).fork(call, projectId, sessionId, request));
  }

  /** `done`: the status of a session whose order was changed. */
  async #order<Status extends string>(
    call: Call,
    operation: KeyedOperation,
    ids: readonly string[],
    change: OrderChange & { readonly tags?: TagChange },
    done: Status,
  ): Promise<Result<OrderedResult<Status>>> {
    const projectId = await this.#keys.project(call, operation);
    const { limits, store } = this.#local;
    checkBatch(ids, limits);
    if (change.tags !== undefined) checkTagChange(change.tags, limits);
    const idempotencyKey = await this.#idempotencyKey(call, operation, { ids, change });
    const items = requireSameRequest(await store.orderSessions(projectId, ids, change, done, idempotencyKey));
    return resultOf({ items: items as readonly OrderedItem<Status>[] });
  }

  #idempotencyKey(call: Call, operation: string, request: unknown) {
    return idempotencyKeyFor(this.#local, call, operation, request);
  }
}

function changedSince(sessionId: string): ParleyError {
  const message = `The session ${sessionId} was not replaced: it has changed since it was read, or a turn runs in it.`;
  return new ParleyError('SESSION_BUSY', message, { hint: 'Nothing was changed. Read it again.' });
}

function takenId(sessionId: string): ParleyError {
  const message = `The session ${sessionId} cannot be imported: its id belongs to a different session.`;
  return new ParleyError('INVALID_REQUEST', message, {
    hint: 'Nothing was changed.',
    remedy: { kind: 'restore_session' },
    details: [{ field: 'session.session_id', problem: 'is taken' }],
  });
}
