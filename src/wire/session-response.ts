// Reads keys and sessions from a response. The fields of the interface document are looked for in several places; all other fields are kept
// unchanged. A field that a third-party server leaves out stays missing, although the casts below hide that; a command shows the fields
// that a record has.
import { fieldOf, firstText, type JsonObject, objectOrNull, textOrNull } from '../http/foreign-json.ts';
import type { KeyIdentity } from '../service/conversation-service.ts';
import type { DeletedSession, NewSession, Session } from '../service/session.ts';

/** The facts of the key, with all fields of the response. */
export function identityOf(body: unknown): KeyIdentity {
  const facts = objectOrNull(fieldOf(body, 'data')) ?? withoutSuccess(body);
  return { project_id: '', project_name: '', key_id: '', key_name: '', created_at: '', ...facts };
}

/** Null if the response names no session. */
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

/** The session with this id; null if the response has none. */
export function sessionOf(body: unknown, sessionId: string): Session | null {
  const fields = sessionFields(body);
  if (Object.keys(fields).length === 0) return null;
  return { ...fields, session_id: idOf(fields) ?? sessionId } as unknown as Session;
}

/** The deleted session. A server may answer a deletion without a body; `deleted_at` is then empty. */
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
