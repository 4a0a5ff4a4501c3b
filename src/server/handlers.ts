// What each operation does with a request of the right shape: one call of the service. A new operation needs a handler here. Chat has a
// file of its own (chat-handler.ts), because its response may be a stream.
import type { z } from 'zod';
import type { Call } from '../service/call.ts';
import type { ConversationService } from '../service/conversation-service.ts';
import type { Limits } from '../service/limits.ts';
import type { Result } from '../service/result.ts';
import { lastActiveFirst, type SessionArchive } from '../service/session-archive.ts';
import type { Operation } from '../wire/routes.ts';
import type { operationShapes } from './operation-shapes.ts';

/** The service that the routes serve, and its limits. */
export interface Served {
  readonly service: ConversationService;
  readonly archive: SessionArchive;
  readonly limits: Limits;
}

type Shapes = typeof operationShapes;

export interface OperationInput<Name extends Operation> {
  readonly call: Call;
  /** The session of the path; empty for a path without one. */
  readonly id: string;
  readonly query: z.output<Shapes[Name]['query']>;
  readonly body: z.output<Shapes[Name]['body']>;
}

/** The operations whose response is one JSON body. */
export type JsonOperation = Exclude<Operation, 'chat'>;

type Handlers = {
  readonly [Name in JsonOperation]: (served: Served, input: OperationInput<Name>) => Promise<Result<unknown>>;
};

export const handlers: Handlers = {
  verify: ({ service }, { call }) => service.verify(call),
  models: ({ service }, { call }) => service.models(call),
  createSession: ({ service }, { call, body }) =>
    service.createSession(call, { ...body, title: body.title ?? null }),
  getSession: ({ service }, { call, id }) => service.getSession(call, id),
  deleteSession: ({ service }, { call, id }) => service.deleteSession(call, id),
  listSessions: ({ archive, limits }, { call, query }) =>
    archive.listSessions(call, {
      limit: query.limit ?? limits.pageItemsDefault,
      cursor: query.cursor ?? null,
      title_match: query.title_match ?? null,
      updated_before: query.updated_before ?? null,
      updated_after: query.updated_after ?? null,
      deleted: query.deleted ?? false,
      sort: query.sort ?? lastActiveFirst.sort,
      order: query.order ?? lastActiveFirst.order,
    }),
  searchSessions: ({ archive, limits }, { call, query }) =>
    archive.searchSessions(call, {
      query: query.q,
      limit: query.limit ?? limits.pageItemsDefault,
      cursor: query.cursor ?? null,
    }),
  listMessages: ({ archive, limits }, { call, id, query }) =>
    archive.listMessages(call, id, {
      limit: query.limit ?? limits.pageItemsDefault,
      cursor: query.cursor ?? null,
    }),
  changeSession: ({ archive }, { call, id, body }) => archive.changeSession(call, id, body),
  restoreSession: ({ archive }, { call, id }) => archive.restoreSession(call, id),
  deleteSessions: ({ archive }, { call, body }) => archive.deleteSessions(call, body.session_ids),
  restoreSessions: ({ archive }, { call, body }) => archive.restoreSessions(call, body.session_ids),
  importSession: ({ archive }, { call, body }) => archive.importSession(call, body),
};
