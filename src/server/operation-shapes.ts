// The shape of each operation's request and response, for the methods and paths of wire/routes.ts. The handlers take their types from this
// table, and the OpenAPI document its schemas. An operation without a row does not compile.
import { z } from 'zod';
import { defaultLimits, importedMessages } from '../service/limits.ts';
import { maxDepth } from '../service/model-parameters.ts';
import type { SessionRecord } from '../service/session-archive.ts';
import type { Operation } from '../wire/routes.ts';
import type { JsonBounds } from './json-scan.ts';
import {
  archiveRequest,
  archiveResult,
  batchRequest,
  pinRequest,
  pinResult,
  tagRequest,
  tagResult,
} from './ordering-schemas.ts';
import {
  changeSessionRequest,
  chatReply,
  chatRequest,
  createSessionRequest,
  deletedSession,
  deletionResult,
  forkRequest,
  keyIdentity,
  message,
  messagePage,
  messageQuery,
  modes,
  movedTurn,
  newSession,
  regenerateRequest,
  restorationResult,
  searchPage,
  searchQuery,
  session,
  sessionPage,
  sessionQuery,
  usage,
} from './schemas.ts';

export interface OperationShape {
  readonly summary: string;
  /** Missing for an operation without a query, or without a body. */
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** Replaces the check of `body` if the service checks the values in it itself. */
  readonly checkedBody?: z.ZodType;
  /** How deep the body may nest and how many values it may hold, if the default is too low. */
  readonly bounds?: Pick<JsonBounds, 'depth' | 'values'>;
  /** The bounds of each list in the body, by the field's name. */
  readonly lists?: JsonBounds['lists'];
  /** The `data` of the response. */
  readonly data: z.ZodType;
}

/** A session to import, with its messages. */
const sessionRecord = z.strictObject({
  session,
  messages: z.array(message).meta({ maxItems: importedMessages }).describe('by position, from 0'),
  hidden_messages: z
    .array(message)
    .meta({ maxItems: importedMessages })
    .exactOptional()
    .describe('replaced replies and undone turns'),
  replaces: z
    .strictObject({
      session: session.describe(
        'the stored session as it was read; if it has changed since, the import fails with SESSION_BUSY',
      ),
      kept_in: z
        .string()
        .nullable()
        .exactOptional()
        .describe('a session with the stored messages that are not in this record'),
    })
    .exactOptional()
    .describe('to replace the stored session with this id; every stored message is kept'),
}) satisfies z.ZodType<SessionRecord>;

/** A session to import, before the service checks it. The service reports only the first fault of a record. */
const anyRecord = z.strictObject({
  session: z.unknown(),
  messages: z.array(z.unknown()),
  hidden_messages: z.array(z.unknown()).optional(),
  replaces: z.unknown().optional(),
});

const messageFieldNames = new Set([...Object.keys(message.shape), ...Object.keys(usage.shape)]);

/** The bounds of a body with session parameters. A value in the parameters takes at least two bytes. */
const withParameters = { depth: maxDepth + 4, values: defaultLimits.parametersBytes / 2 + 100 };

const batchLists = { session_ids: { items: defaultLimits.batchIds, names: new Set<string>() } } as const;

export const operationShapes = {
  verify: { summary: 'Check that the key is valid, and return its project', data: keyIdentity },
  models: { summary: 'List the modes', data: modes },
  chat: {
    summary: 'Send a message and receive the reply, whole or as a stream of events',
    body: chatRequest,
    bounds: withParameters,
    data: chatReply,
  },
  createSession: {
    summary: 'Start a new, empty session',
    body: createSessionRequest,
    bounds: withParameters,
    data: newSession,
  },
  getSession: { summary: 'Fetch one session', data: session },
  deleteSession: {
    summary: 'Soft-delete a session: it is hidden, and can be restored',
    data: deletedSession,
  },
  listSessions: {
    summary: 'List sessions, by last activity or creation',
    query: sessionQuery,
    data: sessionPage,
  },
  searchSessions: {
    summary: 'Find sessions by words in their messages, best match first',
    query: searchQuery,
    data: searchPage,
  },
  listMessages: {
    summary: 'List the messages of a session in order',
    query: messageQuery,
    data: messagePage,
  },
  changeSession: {
    summary: 'Change the title, the settings and the ordering of a session; missing fields stay unchanged',
    body: changeSessionRequest,
    bounds: withParameters,
    data: session,
  },
  restoreSession: { summary: 'Undo a deletion', data: session },
  deleteSessions: {
    summary: 'Soft-delete many sessions in one transaction',
    body: batchRequest,
    lists: batchLists,
    data: deletionResult,
  },
  restoreSessions: {
    summary: 'Restore many sessions in one transaction',
    body: batchRequest,
    lists: batchLists,
    data: restorationResult,
  },
  pinSessions: {
    summary: 'Pin or unpin many sessions in one transaction',
    body: pinRequest,
    lists: batchLists,
    data: pinResult,
  },
  archiveSessions: {
    summary: 'Archive many sessions in one transaction, or take them out of the archive',
    body: archiveRequest,
    lists: batchLists,
    data: archiveResult,
  },
  tagSessions: {
    summary: 'Add tags to many sessions, and remove tags, in one transaction',
    body: tagRequest,
    lists: batchLists,
    data: tagResult,
  },
  importSession: {
    summary:
      'Import a session with its id and all its messages; an equal session that exists stays unchanged',
    body: sessionRecord,
    checkedBody: anyRecord,
    bounds: withParameters,
    lists: {
      messages: { items: importedMessages, names: messageFieldNames },
      hidden_messages: { items: importedMessages, names: messageFieldNames },
    },
    data: session,
  },
  regenerate: {
    summary:
      'Request another reply to the last message, whole or as a stream of events; the replaced reply is kept as an alternative',
    body: regenerateRequest,
    data: chatReply,
  },
  undoTurn: { summary: 'Undo the last turn: hide its message and its reply', data: movedTurn },
  redoTurn: {
    summary: 'Redo the turn that was undone last, unless a message was sent since',
    data: movedTurn,
  },
  forkSession: {
    summary: 'Copy a session with its messages to a new, independent session',
    body: forkRequest,
    data: session,
  },
} as const satisfies Record<Operation, OperationShape>;
