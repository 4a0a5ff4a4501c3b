// The handler of each operation: one call of the service for a request whose shape was checked. A new operation needs a handler here.
// chat-handler.ts responds for the operations whose response may be a stream.
import type { z } from 'zod';
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatRequest, ReplyForm } from '../service/chat-event.ts';
import type { ConversationService } from '../service/conversation-service.ts';
import { defaultLimits } from '../service/limits.ts';
import type { Result } from '../service/result.ts';
import { lastActiveFirst, type SessionArchive } from '../service/session-archive.ts';
import type { Operation, StreamedOperation } from '../wire/routes.ts';
import { readConditionsQuery } from '../wire/session-filter.ts';
import type { operationShapes } from './operation-shapes.ts';

/** The services that the routes serve. */
export interface Services {
  readonly service: ConversationService;
  readonly archive: SessionArchive;
}

/** The checked query or body of an operation. */
type Checked<Name extends Operation, Part extends 'query' | 'body'> =
  (typeof operationShapes)[Name] extends Readonly<Record<Part, infer Shape>> ? z.output<Shape> : unknown;

export interface OperationInput<Name extends Operation> {
  readonly call: Call;
  /** The session id in the path; empty for a path without one. */
  readonly id: string;
  readonly query: Checked<Name, 'query'>;
  readonly body: Checked<Name, 'body'>;
}

/** The operations whose response is one JSON body. */
export type JsonOperation = Exclude<Operation, StreamedOperation>;

type Handlers = {
  readonly [Name in JsonOperation]: (
    services: Services,
    input: OperationInput<Name>,
  ) => Promise<Result<unknown>>;
};

export const handlers: Handlers = {
  verify: ({ service }, { call }) => service.verify(call),
  models: ({ service }, { call }) => service.models(call),
  createSession: ({ service }, { call, body }) =>
    service.createSession(call, { ...body, title: body.title ?? null }),
  getSession: ({ service }, { call, id }) => service.getSession(call, id),
  deleteSession: ({ service }, { call, id }) => service.deleteSession(call, id),
  listSessions: ({ archive }, { call, query }) =>
    archive.listSessions(call, {
      limit: query.limit ?? defaultLimits.pageItemsDefault,
      cursor: query.cursor ?? null,
      ...readConditionsQuery(query, query.deleted ? null : false),
      id_suffix: query.id_suffix ?? null,
      deleted: query.deleted ?? false,
      sort: query.sort ?? lastActiveFirst.sort,
      order: query.order ?? lastActiveFirst.order,
    }),
  searchSessions: ({ archive }, { call, query }) =>
    archive.searchSessions(call, {
      ...readConditionsQuery(query, null),
      query: query.q,
      limit: query.limit ?? defaultLimits.pageItemsDefault,
      cursor: query.cursor ?? null,
    }),
  listMessages: ({ archive }, { call, id, query }) =>
    archive.listMessages(call, id, {
      limit: query.limit ?? defaultLimits.pageItemsDefault,
      cursor: query.cursor ?? null,
      ...(query.all && { all: true }),
      ...(query.last && { last: true }),
    }),
  changeSession: ({ archive }, { call, id, body }) => archive.changeSession(call, id, body),
  restoreSession: ({ archive }, { call, id }) => archive.restoreSession(call, id),
  deleteSessions: ({ archive }, { call, body }) => archive.deleteSessions(call, body.session_ids),
  restoreSessions: ({ archive }, { call, body }) => archive.restoreSessions(call, body.session_ids),
  pinSessions: ({ archive }, { call, body }) => archive.pinSessions(call, body.session_ids, body.pinned),
  archiveSessions: ({ archive }, { call, body }) =>
    archive.archiveSessions(call, body.session_ids, body.archived),
  tagSessions: ({ archive }, { call, body }) =>
    archive.tagSessions(call, body.session_ids, { add: body.add ?? [], remove: body.remove ?? [] }),
  importSession: ({ archive }, { call, body }) => archive.importSession(call, body),
  undoTurn: ({ archive }, { call, id }) => archive.undoTurn(call, id),
  redoTurn: ({ archive }, { call, id }) => archive.redoTurn(call, id),
  forkSession: ({ archive }, { call, id, body }) => archive.forkSession(call, id, body),
};

type Replies = {
  readonly [Name in StreamedOperation]: (
    services: Services,
    input: OperationInput<Name>,
    form: ReplyForm,
  ) => AsyncIterable<ChatEvent>;
};

export const replies: Replies = {
  chat: ({ service }, { call, body }, form) => service.chat(call, chatRequestOf(body), form),
  regenerate: ({ archive }, { call, id, body }, form) => archive.regenerate(call, id, body, form),
};

function chatRequestOf({ session_id, title, ...others }: OperationInput<'chat'>['body']): ChatRequest {
  return { session_id: session_id ?? null, ...others, ...(title !== undefined && { title }) };
}
