// The archive of a server elsewhere that offers one. Each method is one request.
import { HttpFailure } from '../http/http-failure.ts';
import type { Call } from '../service/call.ts';
import type { ChatEvent, ReplyForm } from '../service/chat-event.ts';
import { ParleyError } from '../service/errors.ts';
import type { Result } from '../service/result.ts';
import type { Message, Page, Session } from '../service/session.ts';
import type {
  BatchResult,
  ForkRequest,
  MessageQuery,
  MovedTurn,
  OrderedResult,
  RegenerateRequest,
  SearchPage,
  SearchRequest,
  SessionArchive,
  SessionChanges,
  SessionQuery,
  SessionRecord,
  TagChange,
} from '../service/session-archive.ts';
import {
  batchOf,
  forkOf,
  messagePageOf,
  movedTurnOf,
  orderedOf,
  searchPageOf,
  sessionPageOf,
} from '../wire/archive-response.ts';
import { sessionOf } from '../wire/session-response.ts';
import { remoteChat } from './remote-chat.ts';
import type { RemoteConnection } from './remote-connection.ts';
import { listQuery, requireOrder, searchQuery } from './session-queries.ts';
import { checkChanges, recordToSend } from './session-settings.ts';

export class RemoteArchive implements SessionArchive {
  readonly #connection: RemoteConnection;
  readonly #replyPointer: readonly string[] | null;
  /** For a session whose page was too large: how many messages the next pages have, until it is listed from the beginning again. */
  readonly #pageMessages = new Map<string, number>();

  /** `replyPointer`: as of {@link RemoteService}. */
  constructor(connection: RemoteConnection, replyPointer: readonly string[] | null) {
    this.#connection = connection;
    this.#replyPointer = replyPointer;
  }

  async listSessions(call: Call, query: SessionQuery): Promise<Result<Page<Session>>> {
    const input = { query: await listQuery(this.#connection, call, query) };
    return this.#connection.result(call, 'listSessions', input, sessionPageOf);
  }

  async searchSessions(call: Call, request: SearchRequest): Promise<Result<SearchPage>> {
    const input = { query: await searchQuery(this.#connection, call, request) };
    return this.#connection.result(call, 'searchSessions', input, searchPageOf);
  }

  /** Lists messages. A server may limit its pages only by items. If its response is too large, half as many messages are requested. */
  async listMessages(call: Call, sessionId: string, page: MessageQuery): Promise<Result<Page<Message>>> {
    if (page.all) await this.#requireLines(call);
    if (page.cursor === null) this.#pageMessages.delete(sessionId);
    let limit = Math.min(page.limit, this.#pageMessages.get(sessionId) ?? page.limit);
    for (;;) {
      const input = { sessionId, query: { ...page, limit, all: page.all || null, last: page.last || null } };
      try {
        return await this.#connection.result(call, 'listMessages', input, messagePageOf);
      } catch (error) {
        if (limit === 1 || !isTooLarge(error)) throw error;
        limit = Math.floor(limit / 2);
        this.#pageMessages.set(sessionId, limit);
      }
    }
  }

  async changeSession(call: Call, sessionId: string, changes: SessionChanges): Promise<Result<Session>> {
    await checkChanges(this.#connection, call, changes);
    const read = (body: unknown) => sessionOf(body, sessionId);
    return this.#connection.result(call, 'changeSession', { sessionId, body: changes }, read);
  }

  restoreSession(call: Call, sessionId: string): Promise<Result<Session>> {
    const read = (body: unknown) => sessionOf(body, sessionId);
    return this.#connection.result(call, 'restoreSession', { sessionId }, read);
  }

  deleteSessions(call: Call, sessionIds: readonly string[]): Promise<Result<BatchResult<'deleted'>>> {
    const input = { body: { session_ids: sessionIds } };
    const read = (body: unknown) => batchOf(body, sessionIds, 'deleted');
    return this.#connection.result(call, 'deleteSessions', input, read);
  }

  restoreSessions(call: Call, sessionIds: readonly string[]): Promise<Result<BatchResult<'restored'>>> {
    const input = { body: { session_ids: sessionIds } };
    const read = (body: unknown) => batchOf(body, sessionIds, 'restored');
    return this.#connection.result(call, 'restoreSessions', input, read);
  }

  pinSessions(call: Call, sessionIds: readonly string[], pinned: boolean) {
    const body = { session_ids: sessionIds, pinned };
    return this.#order(call, 'pinSessions', body, pinned ? 'pinned' : 'unpinned');
  }

  archiveSessions(call: Call, sessionIds: readonly string[], archived: boolean) {
    const body = { session_ids: sessionIds, archived };
    return this.#order(call, 'archiveSessions', body, archived ? 'archived' : 'unarchived');
  }

  tagSessions(call: Call, sessionIds: readonly string[], { add, remove }: TagChange) {
    return this.#order(call, 'tagSessions', { session_ids: sessionIds, add, remove }, 'tagged');
  }

  async importSession(call: Call, record: SessionRecord): Promise<Result<Session>> {
    const read = (body: unknown) => sessionOf(body, record.session.session_id);
    const body = await recordToSend(this.#connection, call, record);
    return this.#connection.result(call, 'importSession', { body }, read);
  }

  async *regenerate(
    call: Call,
    sessionId: string,
    request: RegenerateRequest,
    form: ReplyForm,
  ): AsyncIterable<ChatEvent> {
    const operation = 'regenerate';
    await this.#requireLines(call);
    const { schema, ...others } = request;
    // A server without the extension does not send a schema to its model. The client checks the reply in any case.
    const supportsSchema = schema === undefined || (await this.#connection.hasExtension(call, 'schema'));
    const input = { sessionId, body: supportsSchema ? request : others, streams: form === 'chunks' };
    const replyPointer = this.#replyPointer;
    const mode = request.mode ?? '';
    yield* remoteChat(this.#connection, call, { operation, input, sessionId, mode, replyPointer });
  }

  undoTurn(call: Call, sessionId: string): Promise<Result<MovedTurn>> {
    return this.#move(call, 'undoTurn', sessionId);
  }

  redoTurn(call: Call, sessionId: string): Promise<Result<MovedTurn>> {
    return this.#move(call, 'redoTurn', sessionId);
  }

  async forkSession(call: Call, sessionId: string, request: ForkRequest): Promise<Result<Session>> {
    await this.#requireLines(call);
    return this.#connection.result(call, 'forkSession', { sessionId, body: request }, forkOf);
  }

  async #order<Status extends string>(
    call: Call,
    operation: 'pinSessions' | 'archiveSessions' | 'tagSessions',
    body: { readonly session_ids: readonly string[]; readonly [field: string]: unknown },
    done: Status,
  ): Promise<Result<OrderedResult<Status>>> {
    await requireOrder(this.#connection, call);
    const read = (response: unknown) => orderedOf(response, body.session_ids, done);
    return this.#connection.result(call, operation, { body }, read);
  }

  async #move(call: Call, operation: 'undoTurn' | 'redoTurn', sessionId: string): Promise<Result<MovedTurn>> {
    await this.#requireLines(call);
    return this.#connection.result(call, operation, { sessionId }, movedTurnOf);
  }

  #requireLines(call: Call): Promise<void> {
    return this.#connection.requireExtension(
      call,
      'lines',
      'cannot regenerate replies, undo turns or fork sessions',
    );
  }
}

function isTooLarge(error: unknown): boolean {
  if (!(error instanceof ParleyError)) return false;
  const { cause } = error;
  return cause instanceof HttpFailure && cause.kind === 'too_large';
}
