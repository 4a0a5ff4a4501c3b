// What the parts of the service suite begin with: a home with two projects, and what they often ask of it.
import { failureBody } from '../../../src/service/answer.ts';
import type { Call } from '../../../src/service/call.ts';
import type { ParleyError } from '../../../src/service/errors.ts';
import type { Home } from '../../../src/service/home.ts';
import type { Message, NewSession } from '../../../src/service/session.ts';
import { anySession, type SessionQuery, type SessionRecord } from '../../../src/service/session-archive.ts';
import { collect } from '../../support/calls.ts';

/** The home of the running test, the name of its first project, a call with a key to each of its two, and a key that was revoked. */
export type GivenService = () => {
  readonly home: Home;
  readonly firstProject: string;
  readonly first: Call;
  readonly second: Call;
  readonly revokedKey: string;
};

export const isoMilliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export const everySession: SessionQuery = { ...anySession, limit: 200, cursor: null };

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

/** A refusal as the client gets it, less what names the one call. */
export function answerTo(error: ParleyError): string {
  return JSON.stringify({ ...(failureBody(error, null) as object), request_id: undefined });
}

export async function create(home: Home, call: Call, title: string | null = null): Promise<NewSession> {
  return (await home.service.createSession(call, { title })).data;
}

export async function messagesOf(home: Home, call: Call, sessionId: string): Promise<readonly Message[]> {
  return (await home.archive.listMessages(call, sessionId, { limit: 200, cursor: null })).data.items;
}

/** Every operation that needs a key, with arguments that would succeed. */
export const operations = (home: Home, call: Call, id: string): Record<string, () => Promise<unknown>> => ({
  verify: () => home.service.verify(call),
  models: () => home.service.models(call),
  chat: () => collect(home.service.chat(call, { mode: 'echo', message: 'hello', session_id: id }, 'pieces')),
  createSession: () => home.service.createSession(call, { title: null }),
  getSession: () => home.service.getSession(call, id),
  deleteSession: () => home.service.deleteSession(call, id),
  listSessions: () => home.archive.listSessions(call, everySession),
  searchSessions: () => home.archive.searchSessions(call, { query: 'word', limit: 50, cursor: null }),
  listMessages: () => home.archive.listMessages(call, id, { limit: 50, cursor: null }),
  renameSession: () => home.archive.renameSession(call, id, 'renamed'),
  restoreSession: () => home.archive.restoreSession(call, id),
  deleteSessions: () => home.archive.deleteSessions(call, [id]),
  restoreSessions: () => home.archive.restoreSessions(call, [id]),
  importSession: () => home.archive.importSession(call, emptyRecord),
});
