// Reads keys and sessions from a response. The fields of the interface document are searched in several places; all other fields are kept
// unchanged. A field that a third-party server leaves out stays missing, although the casts below hide that; only a session's settings are
// filled in. Commands show the fields that a record has.
import { fieldOf, firstText, type JsonObject, objectOrNull, textOrNull } from '../http/foreign-json.ts';
import type { KeyIdentity } from '../service/conversation-service.ts';
import { ParleyError } from '../service/errors.ts';
import { quoted } from '../service/quoted.ts';
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

/** The session with this id; null if the response has no session. Throws `BAD_RESPONSE` for another session. */
export function sessionOf(body: unknown, sessionId: string): Session | null {
  const fields = sessionFields(body);
  if (Object.keys(fields).length === 0) return null;
  const receivedId = idOf(fields);
  checkSession(receivedId, sessionId, body);
  return withSettings({ ...fields, session_id: receivedId ?? sessionId }) as unknown as Session;
}

/** Fills in settings and ordering that are missing or have another shape. Older and third-party servers do not send them. */
export function withSettings(fields: JsonObject): JsonObject {
  const { parameters, forked_at, tags } = fields;
  return {
    ...fields,
    mode: textOrNull(fieldOf(fields, 'mode')),
    system: textOrNull(fieldOf(fields, 'system')),
    parameters: objectOrNull(parameters) ?? {},
    parent_id: textOrNull(fieldOf(fields, 'parent_id')),
    forked_at: typeof forked_at === 'number' ? forked_at : null,
    user: textOrNull(fieldOf(fields, 'user')),
    pinned: fieldOf(fields, 'pinned') === true,
    archived: fieldOf(fields, 'archived') === true,
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
  };
}

/** The response to a deletion may have no body; `deleted_at` is then empty. Throws `BAD_RESPONSE` if another session was deleted. */
export function deletedSessionOf(body: unknown, sessionId: string): DeletedSession {
  checkSession(idOf(sessionFields(body)), sessionId, body);
  const deleted_at = textOrNull(fieldOf(fieldOf(body, 'data'), 'deleted_at')) ?? '';
  return { session_id: sessionId, deleted_at };
}

/** The case of an id may differ: a server may write a UUID in lower case. */
function checkSession(receivedId: string | null, requestedId: string, body: unknown): void {
  if (receivedId === null || receivedId.toLowerCase() === requestedId.toLowerCase()) return;
  const message = `The server returned session ${quoted(receivedId)} instead of ${quoted(requestedId)}.`;
  throw new ParleyError('BAD_RESPONSE', message, {
    hint: 'It is not known what it did to either session: check both.',
    body,
  });
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
