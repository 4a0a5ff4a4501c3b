// Keys and sessions in an answer. What the interface document shows of them is looked for; all other fields are kept as they came,
// and a field that another server leaves out is not made up: hence the casts, whoever shows a record shows what is there.

import { fieldOf, firstText, type JsonObject, objectOrNull, textOrNull } from '../http/foreign-json.ts';
import type { KeyIdentity } from '../service/conversation-service.ts';
import type { DeletedSession, NewSession, Session } from '../service/session.ts';

/** What a key resolves to: whatever comes back, nested fields too. */
export function identityOf(body: unknown): KeyIdentity {
  const facts = objectOrNull(fieldOf(body, 'data')) ?? withoutSuccess(body);
  return { project_id: '', project_name: '', key_id: '', key_name: '', created_at: '', ...facts };
}

/** Null where the answer names no session. */
export function newSessionOf(body: unknown): NewSession | null {
  const fields = sessionFields(body);
  const session_id = idOf(fields);
  if (session_id === null) return null;
  const count = fieldOf(fields, 'message_count');
  return {
    ...fields,
    session_id,
    title: textOrNull(fieldOf(fields, 'title')),
    created_at: textOrNull(fieldOf(fields, 'created_at')) ?? '',
    message_count: typeof count === 'number' ? count : 0,
  };
}

/** The session that was asked for; null where the answer holds none. */
export function sessionOf(body: unknown, sessionId: string): Session | null {
  const fields = sessionFields(body);
  if (Object.keys(fields).length === 0) return null;
  return { ...fields, session_id: idOf(fields) ?? sessionId } as unknown as Session;
}

/** A server may answer a deletion with nothing. */
export function deletedSessionOf(body: unknown, sessionId: string): DeletedSession {
  const deleted_at = textOrNull(fieldOf(fieldOf(body, 'data'), 'deleted_at')) ?? '';
  return { session_id: sessionId, deleted_at };
}

function sessionFields(body: unknown): JsonObject {
  const data = fieldOf(body, 'data');
  const places = [data, fieldOf(data, 'session'), withoutSuccess(body)];
  return objectOrNull(places.find((place) => idOf(place) !== null) ?? data) ?? {};
}

function idOf(value: unknown): string | null {
  return firstText(fieldOf(value, 'session_id'), fieldOf(value, 'id'));
}

function withoutSuccess(body: unknown): JsonObject {
  const { success, ...rest } = objectOrNull(body) ?? {};
  return rest;
}
