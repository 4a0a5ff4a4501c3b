// The messages of the sessions that a search is limited to, if an index of the sessions shows that they are few.
import type { Connection } from './connection.ts';
import { meetsAll, type SearchedSessions, selectBy } from './session-conditions.ts';
import { inProject } from './sessions.ts';

/** The most sessions that are looked at, and the most messages: a few milliseconds' work. */
const maxSessions = 2000;
const maxMessages = 2000;

const active = (archived: 0 | 1) => `
  SELECT id AS session FROM sessions WHERE ${inProject} AND deleted_at IS NULL AND archived = ${archived}
    AND updated_at >= @updatedAfter AND updated_at < @updatedBefore`;
const sessionsBy = {
  ...selectBy,
  archived: active(1),
  time: `${active(0)} UNION ALL ${active(1)}`,
} as const;

const manySessions = (by: keyof typeof sessionsBy) => `${sessionsBy[by]} LIMIT 1 OFFSET ${maxSessions}`;
// CROSS JOIN makes SQLite begin with the few sessions.
const messagesOf = (by: keyof typeof sessionsBy) => `
  SELECT message.id FROM (${sessionsBy[by]} LIMIT ${maxSessions}) AS few
  CROSS JOIN sessions ON sessions.id = few.session CROSS JOIN messages AS message ON message.session = few.session
  WHERE sessions.${inProject} AND deleted_at IS NULL AND ${meetsAll} LIMIT ${maxMessages + 1}`;

export const fewStatements = {
  tag: { many: manySessions('tag'), messages: messagesOf('tag') },
  user: { many: manySessions('user'), messages: messagesOf('user') },
  pinned: { many: manySessions('pinned'), messages: messagesOf('pinned') },
  archived: { many: manySessions('archived'), messages: messagesOf('archived') },
  time: { many: manySessions('time'), messages: messagesOf('time') },
} as const satisfies Record<keyof typeof sessionsBy, unknown>;

/** The numbers of all messages in the sessions, in their order; `many` if they may be many. */
export function fewMessages(connection: Connection, sessions: SearchedSessions): readonly number[] | 'many' {
  const { tag, user, pinned, archived, updatedAfter, updatedBefore } = sessions;
  const isTimed = updatedAfter !== Number.MIN_SAFE_INTEGER || updatedBefore !== Number.MAX_SAFE_INTEGER;
  const ways = [
    tag !== null && fewStatements.tag,
    user !== null && fewStatements.user,
    pinned === 1 && fewStatements.pinned,
    archived === 1 && fewStatements.archived,
    isTimed && fewStatements.time,
  ];
  const few = ways.find((way) => way && connection.get(way.many, sessions) === undefined);
  if (!few) return 'many';
  const messages = connection.all<{ id: number }>(few.messages, sessions).map(({ id }) => id);
  return messages.length > maxMessages ? 'many' : messages.sort((one, other) => one - other);
}
