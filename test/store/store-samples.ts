// Sample values for tests of a store: keys, turns and replies with defaults for all fields that a test does not set.

import { readConditions } from '../../src/local/condition-reading.ts';
import { readQuery } from '../../src/local/search-query.ts';
import { readTitlePattern } from '../../src/local/title-pattern.ts';
import type { Call } from '../../src/service/call.ts';
import { defaultLimits } from '../../src/service/limits.ts';
import { noOrdering, noSettings, type Session } from '../../src/service/session.ts';
import {
  lastActiveFirst,
  noConditions,
  type SearchPage,
  type SessionOrder,
  type SessionRecord,
} from '../../src/service/session-archive.ts';
import type { SearchFilter, SessionFilter, SessionPlace } from '../../src/store/session-filters.ts';
import type {
  IdempotencyKey,
  NewKey,
  SessionStart,
  SessionStore,
  TurnReply,
  TurnStart,
} from '../../src/store/session-store.ts';

export const startOfTime = Date.parse('2024-05-01T12:00:00.000Z');

export function at(milliseconds: number): string {
  return new Date(startOfTime + milliseconds).toISOString();
}

let lastNumber = 0;

/** A new id, different at each call. */
export function newId(prefix: string): string {
  lastNumber += 1;
  return `${prefix}_${lastNumber}_${process.pid}`;
}

export function hashOf(text: string): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => text.charCodeAt(index % text.length) % 256);
}

export function newKey(key: Partial<NewKey> = {}): NewKey {
  const key_id = newId('key');
  return {
    key_id,
    key_name: 'laptop',
    hash: hashOf(key_id),
    project_name: newId('name'),
    project_id: newId('prj'),
    now: startOfTime,
    ...key,
  };
}

/** Creates a project and returns its id. */
export async function newProject(store: SessionStore): Promise<string> {
  return (await store.createKey(newKey())).project_id;
}

export async function newSession(
  store: SessionStore,
  projectId: string,
  session: Partial<Omit<SessionStart, 'session_id'>> = {},
): Promise<string> {
  const session_id = newId('ses');
  await store.createSession(projectId, { session_id, title: null, now: startOfTime, ...session }, null);
  return session_id;
}

export function turnStart(start: Partial<TurnStart> = {}): TurnStart {
  return {
    session_id: null,
    newSession: { session_id: newId('ses'), title: 'Hello' },
    message_id: newId('msg'),
    content: 'Hello',
    mode: 'echo',
    now: startOfTime,
    lease: { owner: 'owner-1', ms: 60_000 },
    deadOwner: null,
    idempotencyKey: null,
    closing_message_id: newId('closing'),
    ...start,
  };
}

export function turnReply(reply: Partial<TurnReply> = {}): TurnReply {
  return {
    message_id: newId('reply'),
    content: 'Hello to you',
    finish_reason: 'stop',
    usage: null,
    mode: 'echo',
    first_token_ms: null,
    error_code: null,
    now: startOfTime + 1000,
    ...reply,
  };
}

export function once(key: string, request = 'request'): IdempotencyKey {
  return { key, requestHash: hashOf(request), keptSince: 0 };
}

/** A filter whose pattern of titles is a glob. */
export type SampleFilter = Partial<Omit<SessionFilter, 'titleMatch'>> & { readonly titleMatch?: string };

export function everySession({ titleMatch, ...filter }: SampleFilter = {}): SessionFilter {
  return {
    limit: 50,
    after: null,
    titleMatch: titleMatch === undefined ? null : readTitlePattern(titleMatch),
    idSuffix: null,
    updatedBefore: null,
    updatedAfter: null,
    ...{ mode: null, tag: null, user: null, pinned: null, archived: null },
    deleted: false,
    ...lastActiveFirst,
    ...filter,
  };
}

/** The place behind this session. */
export function placeAfter(
  session: Session | undefined,
  { sort }: SessionOrder = lastActiveFirst,
): SessionPlace {
  if (session === undefined) throw new Error('The page is empty.');
  const time = sort === 'created' ? session.created_at : session.updated_at;
  return { time: Date.parse(time), sessionId: session.session_id };
}

export const firstPage = { limit: 50, after: null } as const;

export function searchFilter(query: string, filter: Partial<SearchFilter> = {}): SearchFilter {
  return { ...readQuery(query, defaultLimits), sessions: anySessions, limit: 50, after: null, ...filter };
}

/** Passes every session. */
export const anySessions = readConditions(noConditions, defaultLimits);

export function search(store: SessionStore, project: string, query: string, limit = 50): Promise<SearchPage> {
  return store.searchSessions(project, searchFilter(query, { limit }), new AbortController().signal);
}

/** What a search tells of the messages that it indexes first. */
export async function indexingOf(store: SessionStore, project: string, query: string) {
  const notices: (readonly [messages: number, of: number])[] = [];
  const notice: Call['notice'] = (sign) => {
    if (sign.kind === 'indexing') notices.push([sign.messages, sign.of]);
  };
  await store.searchSessions(project, searchFilter(query), new AbortController().signal, null, notice);
  return notices;
}

/** The snippets of all hits on the first page. */
export async function snippets(
  store: SessionStore,
  project: string,
  query: string,
): Promise<readonly string[]> {
  const { items } = await search(store, project, query);
  return items.flatMap(({ hits }) => hits.map(({ snippet }) => snippet));
}

/** The fields of a session that was given no settings and had no turn. */
export const bareSession = {
  ...{ ...noSettings, ...noOrdering, mode: null, user: null, parent_id: null, forked_at: null },
};

/** An exported session with these texts: messages and replies in turn. */
export function recordOf(
  session_id: string,
  contents: readonly string[],
  title: string | null = null,
): SessionRecord & { readonly session: Session } {
  const time = at(0);
  const messages = contents.map((content, position) => ({
    ...{ message_id: newId('msg'), position, content, mode: 'echo', usage: null, created_at: time },
    role: position % 2 === 0 ? ('user' as const) : ('assistant' as const),
    finish_reason: position % 2 === 0 ? null : ('stop' as const),
  }));
  const message_count = messages.length;
  const mode = message_count === 0 ? null : 'echo';
  const facts = { session_id, title, created_at: time, updated_at: time, message_count };
  return { session: { ...facts, ...bareSession, mode }, messages };
}
