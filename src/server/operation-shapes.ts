// The shape of each operation's request and answer, for the methods and paths of wire/routes.ts. The handlers take their types from here,
// the OpenAPI document its schemas. An operation without a row here does not compile.
import type { z } from 'zod';
import { defaultLimits, importedMessages } from '../service/limits.ts';
import { mostDepth } from '../service/model-parameters.ts';
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
import { anyRecord, sessionRecord } from './record-schemas.ts';
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
  nothing,
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
  readonly query: z.ZodObject;
  readonly body: z.ZodObject;
  /** Replaces the check of `body` if the service itself checks everything in it. */
  readonly checkedBody?: z.ZodType;
  /** How deep the body may nest, and how many values it may hold, if that is more than usual. */
  readonly bounds?: Pick<JsonBounds, 'depth' | 'values'>;
  /** What each list of the body may hold, by the field's name. */
  readonly lists?: JsonBounds['lists'];
  /** The `data` of the answer. */
  readonly data: z.ZodType;
}

const namesOfMessage = new Set([...Object.keys(message.shape), ...Object.keys(usage.shape)]);

/** The bounds of a body with parameters of a session. A value of theirs takes at least two bytes. */
const withParameters = { depth: mostDepth + 4, values: defaultLimits.parametersBytes / 2 + 100 };

const batchLists = { session_ids: { items: defaultLimits.batchIds, names: new Set<string>() } } as const;

export const operationShapes = {
  verify: {
    summary: 'Confirm that the key is valid, and see what it resolves to',
    query: nothing,
    body: nothing,
    data: keyIdentity,
  },
  models: { summary: 'List the modes', query: nothing, body: nothing, data: modes },
  chat: {
    summary: 'Send a message and receive the reply, whole or as a stream of events',
    query: nothing,
    body: chatRequest,
    bounds: withParameters,
    data: chatReply,
  },
  createSession: {
    summary: 'Start a new, empty session',
    query: nothing,
    body: createSessionRequest,
    bounds: withParameters,
    data: newSession,
  },
  getSession: { summary: 'Fetch one session', query: nothing, body: nothing, data: session },
  deleteSession: {
    summary: 'Soft-delete a session: it is hidden, and can be restored',
    query: nothing,
    body: nothing,
    data: deletedSession,
  },
  listSessions: {
    summary: 'List sessions by last activity, the newest first, or in another order',
    query: sessionQuery,
    body: nothing,
    data: sessionPage,
  },
  searchSessions: {
    summary: 'Find sessions by words in their messages, the best first',
    query: searchQuery,
    body: nothing,
    data: searchPage,
  },
  listMessages: {
    summary: 'Read a session’s messages in order, both sides',
    query: messageQuery,
    body: nothing,
    data: messagePage,
  },
  changeSession: {
    summary:
      'Change the title, the settings and the ordering of a session; a field that is missing stays as it is',
    query: nothing,
    body: changeSessionRequest,
    bounds: withParameters,
    data: session,
  },
  restoreSession: { summary: 'Undo a deletion', query: nothing, body: nothing, data: session },
  deleteSessions: {
    summary: 'Soft-delete many sessions in one transaction',
    query: nothing,
    body: batchRequest,
    lists: batchLists,
    data: deletionResult,
  },
  restoreSessions: {
    summary: 'Restore many sessions in one transaction',
    query: nothing,
    body: batchRequest,
    lists: batchLists,
    data: restorationResult,
  },
  pinSessions: {
    summary: 'Pin or unpin many sessions in one transaction',
    query: nothing,
    body: pinRequest,
    lists: batchLists,
    data: pinResult,
  },
  archiveSessions: {
    summary: 'Archive many sessions in one transaction, or take them out of the archive',
    query: nothing,
    body: archiveRequest,
    lists: batchLists,
    data: archiveResult,
  },
  tagSessions: {
    summary: 'Add tags to many sessions, and remove tags, in one transaction',
    query: nothing,
    body: tagRequest,
    lists: batchLists,
    data: tagResult,
  },
  importSession: {
    summary:
      'Import a session with its id and all its messages; a session that exists and is equal stays as it is',
    query: nothing,
    body: sessionRecord,
    checkedBody: anyRecord,
    bounds: withParameters,
    lists: {
      messages: { items: importedMessages, names: namesOfMessage },
      hidden_messages: { items: importedMessages, names: namesOfMessage },
    },
    data: session,
  },
  regenerate: {
    summary:
      'Ask for another reply to the last message, whole or as a stream of events; the reply that it takes the place of is kept as an alternative',
    query: nothing,
    body: regenerateRequest,
    data: chatReply,
  },
  undoTurn: {
    summary: 'Take the last turn back: its message and its reply are hidden',
    query: nothing,
    body: nothing,
    data: movedTurn,
  },
  redoTurn: {
    summary: 'Bring back the turn that was undone last, as long as no message was sent since',
    query: nothing,
    body: nothing,
    data: movedTurn,
  },
  forkSession: {
    summary: 'Copy a session with its messages to a new one, which goes its own way',
    query: nothing,
    body: forkRequest,
    data: session,
  },
} as const satisfies Record<Operation, OperationShape>;
