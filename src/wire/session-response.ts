// Reads keys and sessions from a response. The fields of the interface document are looked for in several places; all other fields are kept
// unchanged. A field that a third-party server leaves out stays missing, except a session's settings, although the casts below hide that; a
// command shows the fields that a record has.
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

/** The session with this id; null where the response has none. Throws `BAD_RESPONSE` where it has another. */
export function sessionOf(body: unknown, sessionId: string): Session | null {
  const fields = sessionFields(body);
  if (Object.keys(fields).length === 0) return null;
  const told = idOf(fields);
  checkSession(told, sessionId, body);
  return withSettings({ ...fields, session_id: told ?? sessionId }) as unknown as Session;
}

/** Fills the settings and the ordering that a response leaves out, or that have another shape. Older and third-party servers tell none. */
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

/** A server may answer a deletion without a body; then `deleted_at` is empty. Throws `BAD_RESPONSE` where another session was deleted. */
export function deletedSessionOf(body: unknown, sessionId: string): DeletedSession {
  checkSession(idOf(sessionFields(body)), sessionId, body);
  const deleted_at = textOrNull(fieldOf(fieldOf(body, 'data'), 'deleted_at')) ?? '';
  return { session_id: sessionId, deleted_at };
}

/** A server may write an id that it knows in other letters, such as a UUID in small ones. */
function checkSession(told: string | null, asked: string, body: unknown): void {
  if (told === null || told.toLowerCase() === asked.toLowerCase()) return;
  const message = `The server answered with session ${quoted(told)}, and was asked for ${quoted(asked)}.`;
  throw new ParleyError('BAD_RESPONSE', message, {
    hint: 'What it did to either is not known: look at both.',
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
