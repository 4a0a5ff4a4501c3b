// What tests of a store put into it: keys, turns and replies with everything filled in but what the test is about.
import { lastActiveFirst } from '../../src/service/session-archive.ts';
import type {
  IdempotencyKey,
  NewKey,
  SessionFilter,
  SessionStore,
  TurnReply,
  TurnStart,
} from '../../src/store/session-store.ts';

export const startOfTime = Date.parse('2024-05-01T12:00:00.000Z');

export function at(milliseconds: number): string {
  return new Date(startOfTime + milliseconds).toISOString();
}

let lastNumber = 0;

/** An id that no other call gets. */
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

/** The id of a project that is new. */
export async function newProject(store: SessionStore): Promise<string> {
  return (await store.createKey(newKey())).project_id;
}

export async function newSession(
  store: SessionStore,
  projectId: string,
  session: { readonly title?: string | null; readonly now?: number } = {},
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
    once: null,
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

export function everySession(filter: Partial<SessionFilter> = {}): SessionFilter {
  return {
    limit: 50,
    cursor: null,
    titleMatch: null,
    updatedBefore: null,
    updatedAfter: null,
    deleted: false,
    ...lastActiveFirst,
    ...filter,
  };
}

export const firstPage = { limit: 50, cursor: null } as const;
