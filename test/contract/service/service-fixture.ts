// The fixture of the service suite: a backend with two projects, and helpers for frequent calls.

import type { Backend } from '../../../src/service/backend.ts';
import type { Call } from '../../../src/service/call.ts';
import type { ParleyError } from '../../../src/service/errors.ts';
import type { KeyLimits } from '../../../src/service/key-limits.ts';
import { failureBody } from '../../../src/service/result.ts';
import { type Message, type NewSession, noOrdering } from '../../../src/service/session.ts';
import { anySession, type SessionQuery, type SessionRecord } from '../../../src/service/session-archive.ts';
import { collect } from '../../support/calls.ts';

/** The backend of the running test, the name of its first project, a call with a key for each project, and a revoked key. */
export type GivenService = () => {
  readonly backend: Backend;
  readonly firstProject: string;
  readonly first: Call;
  readonly second: Call;
  readonly revokedKey: string;
  readonly issueKey: (limits: Partial<KeyLimits>) => Promise<string>;
};

export const isoMilliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export const everySession: SessionQuery = { ...anySession, limit: 200, cursor: null };

/** What a session has that was begun without anything of it. */
export const bareSession = {
  mode: null,
  system: null,
  parameters: {},
  parent_id: null,
  forked_at: null,
  user: null,
  ...noOrdering,
};

export const emptyRecord: SessionRecord = {
  session: {
    session_id: 'ses_imported',
    title: null,
    created_at: '2024-05-01T12:00:00.000Z',
    updated_at: '2024-05-01T12:00:00.000Z',
    message_count: 0,
  },
  messages: [],
};

/** A refusal as the client gets it, without the parts that identify the call. */
export function answerTo(error: ParleyError): string {
  return JSON.stringify({ ...(failureBody(error, null) as object), request_id: undefined });
}

export async function create(backend: Backend, call: Call, title: string | null = null): Promise<NewSession> {
  return (await backend.service.createSession(call, { title })).data;
}

export async function messagesOf(
  backend: Backend,
  call: Call,
  sessionId: string,
): Promise<readonly Message[]> {
  return (await backend.archive.listMessages(call, sessionId, { limit: 200, cursor: null })).data.items;
}

/** Every operation that needs a key, with arguments that would succeed. */
export const operations = (
  backend: Backend,
  call: Call,
  id: string,
): Record<string, () => Promise<unknown>> => ({
  verify: () => backend.service.verify(call),
  models: () => backend.service.models(call),
  chat: () =>
    collect(backend.service.chat(call, { mode: 'echo', message: 'hello', session_id: id }, 'chunks')),
  createSession: () => backend.service.createSession(call, { title: null }),
  getSession: () => backend.service.getSession(call, id),
  deleteSession: () => backend.service.deleteSession(call, id),
  listSessions: () => backend.archive.listSessions(call, everySession),
  searchSessions: () => backend.archive.searchSessions(call, { query: 'word', limit: 50, cursor: null }),
  listMessages: () => backend.archive.listMessages(call, id, { limit: 50, cursor: null }),
  changeSession: () => backend.archive.changeSession(call, id, { title: 'renamed' }),
  restoreSession: () => backend.archive.restoreSession(call, id),
  deleteSessions: () => backend.archive.deleteSessions(call, [id]),
  restoreSessions: () => backend.archive.restoreSessions(call, [id]),
  pinSessions: () => backend.archive.pinSessions(call, [id], true),
  archiveSessions: () => backend.archive.archiveSessions(call, [id], true),
  tagSessions: () => backend.archive.tagSessions(call, [id], { add: ['a'], remove: [] }),
  importSession: () => backend.archive.importSession(call, emptyRecord),
  listAllMessages: () => backend.archive.listMessages(call, id, { limit: 50, cursor: null, all: true }),
  regenerate: () => collect(backend.archive.regenerate(call, id, {}, 'chunks')),
  undoTurn: () => backend.archive.undoTurn(call, id),
  redoTurn: () => backend.archive.redoTurn(call, id),
  forkSession: () => backend.archive.forkSession(call, id, {}),
});
