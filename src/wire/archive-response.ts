// The responses of the archive. The archive is Parley's own extension, so the shapes of its responses are known, and any other shape is
// refused.
import { fieldOf, type JsonObject, objectOrNull, textOrNull } from '../http/foreign-json.ts';
import { ExactNumber } from '../service/exact-number.ts';
import type { Message, Page, Session, SessionFacts } from '../service/session.ts';
import type {
  BatchResult,
  MovedTurn,
  OrderedResult,
  SearchItem,
  SearchPage,
} from '../service/session-archive.ts';
import { withSettings } from './session-response.ts';

type Check = (value: unknown) => boolean;

const isId: Check = (value) => textOrNull(value) !== null;
const isText: Check = (value) => typeof value === 'string';
const isTextOrNull: Check = (value) => value === null || typeof value === 'string';
/** A cursor becomes part of a URL, and the client remembers all cursors of a listing. Its length is therefore limited. */
const isCursor: Check = (value) => isTextOrNull(value) && (textOrNull(value) ?? '').length <= 4096;
const isNumber: Check = (value) => typeof value === 'number' || value instanceof ExactNumber;
const isListOf =
  (fields: Fields): Check =>
  (value) =>
    Array.isArray(value) && value.every((item) => has(item, fields));

/** The fields of a record that Parley reads, each with the check of its value. A record may have more fields. */
type Fields = Readonly<Record<string, Check>>;

const sessionFields = {
  session_id: isId,
  title: isTextOrNull,
  created_at: isText,
  updated_at: isText,
  message_count: isNumber,
} satisfies Fields & Record<keyof SessionFacts, Check>;
const messageFields = {
  message_id: isId,
  position: isNumber,
  role: (value) => value === 'user' || value === 'assistant',
  content: isText,
  mode: isText,
  finish_reason: isTextOrNull,
  usage: (value) => value === null || objectOrNull(value) !== null,
  created_at: isText,
  error_code: isTextOrNull,
  alternative_of: isTextOrNull,
  undone_at: isTextOrNull,
} satisfies Fields & Record<keyof Message, Check>;
const hitFields = { message_id: isId, role: isText, created_at: isText, snippet: isText } satisfies Fields;
const searchFields = {
  session: (value) => has(value, sessionFields),
  score: isNumber,
  hits: isListOf(hitFields),
} satisfies Fields & Record<keyof SearchItem, Check>;

const changedField = { changed: (value) => Array.isArray(value) && value.every(isText) } satisfies Fields;

/** Null if the body has no list of sessions. */
export function sessionPageOf(body: unknown): Page<Session> | null {
  const page = pageOf<JsonObject>(body, sessionFields);
  return page === null ? null : { ...page, items: page.items.map(toSession) };
}

/** Null if the body has no list of messages. */
export function messagePageOf(body: unknown): Page<Message> | null {
  return pageOf<Message>(body, messageFields);
}

/** Null if the body has no list of search results. */
export function searchPageOf(body: unknown): SearchPage | null {
  const page = pageOf<SearchItem>(body, searchFields);
  const isNewestOnly = fieldOf(fieldOf(body, 'data'), 'newest_only') === true;
  if (page === null) return null;
  const items = page.items.map((item) => ({ ...item, session: toSession(item.session) }));
  return { ...page, items, newest_only: isNewestOnly };
}

/** Null if the body has no session. */
export function forkOf(body: unknown): Session | null {
  const data = fieldOf(body, 'data');
  return has(data, sessionFields) ? toSession(data) : null;
}

/** Null if the body does not have both a session and a message. */
export function movedTurnOf(body: unknown): MovedTurn | null {
  const data = fieldOf(body, 'data');
  const session = fieldOf(data, 'session');
  const message = fieldOf(data, 'message');
  if (!has(session, sessionFields) || !has(message, messageFields)) return null;
  return { session: toSession(session), message: message as unknown as Message };
}

/** Null if the body does not have a result for each id, in the order of the ids. */
export function batchOf<Status extends string>(
  body: unknown,
  sessionIds: readonly string[],
  done: Status,
): BatchResult<Status> | null {
  return batchResultOf(body, sessionIds, [done, 'not_found'], {});
}

/** As {@link batchOf}, for a batch that changes the ordering. */
export function orderedOf<Status extends string>(
  body: unknown,
  sessionIds: readonly string[],
  done: Status,
): OrderedResult<Status> | null {
  return batchResultOf(body, sessionIds, [done, 'not_found', 'too_many_tags'], changedField);
}

function batchResultOf<Item>(
  body: unknown,
  sessionIds: readonly string[],
  statuses: readonly string[],
  fields: Fields,
): { readonly items: readonly Item[] } | null {
  const items = fieldOf(fieldOf(body, 'data'), 'items');
  const isResult = (item: unknown, index: number) =>
    has(item, fields) &&
    item['session_id'] === sessionIds[index] &&
    statuses.some((status) => item['status'] === status);
  const isComplete = Array.isArray(items) && items.length === sessionIds.length && items.every(isResult);
  return isComplete ? { items: items as readonly Item[] } : null;
}

function toSession(fields: object): Session {
  return withSettings(fields as JsonObject) as unknown as Session;
}

function pageOf<T>(body: unknown, fields: Fields): Page<T> | null {
  const data = fieldOf(body, 'data');
  const items = fieldOf(data, 'items');
  const cursor = fieldOf(data, 'next_cursor');
  if (!isListOf(fields)(items) || !isCursor(cursor)) return null;
  return { items: items as readonly T[], next_cursor: textOrNull(cursor) };
}

function has(value: unknown, fields: Fields): value is JsonObject {
  return (
    objectOrNull(value) !== null &&
    Object.entries(fields).every(([name, check]) => check(fieldOf(value, name)))
  );
}
