// Replaces a stored session by an imported one, in one statement (../replaced-session.ts), which holds only if the session is as it was
// read. An idempotency key names its message by position and id, so it stays valid when the message is hidden or shown. The keys of a
// message that is kept in another session go to that session.
import { isHidden, type Message, type Session } from '../../service/session.ts';
import type { ReplacedSession, SessionRecord } from '../../service/session-archive.ts';
import type { AuditOrigin } from '../audit-log.ts';
import { importedSession, isCopy } from '../imported-session.ts';
import { areKeptElsewhere, keptInSession, type Replacement, replacementOf } from '../replaced-session.ts';
import {
  hiddenColumns,
  type MessageRow,
  parametersText,
  type SessionRow,
  tagsText,
  toMessage,
  toSession,
} from '../rows.ts';
import type { StoreRules } from '../store-rules.ts';
import { auditing, noteOf } from './audit.ts';
import { fieldsOf } from './columns.ts';
import type { Ask } from './connection-pool.ts';
import { importSession, sameSession } from './imports.ts';
import {
  inputColumns,
  inputMessages,
  messageValues,
  movedColumns,
  visibleColumns,
} from './message-columns.ts';
import { isAbandoned } from './reply-parts.ts';
import { noTurnRunsFor } from './servers.ts';
import { ofProject, sessionColumns } from './sessions.ts';
import { nowMs, statement } from './statement.ts';

// $3: the owner that asks.
const free = statement(`
  SELECT session.id, session.xmin::text AS version, ${sessionColumns} FROM parley.sessions AS session
  WHERE ${ofProject} AND session.session_id = $2 AND session.deleted_at IS NULL
    AND (session.turn_owner = 'import' OR ${noTurnRunsFor('$3::text')}) AND NOT (${isAbandoned('$3::text')})`);

const everyMessage = statement(`
  SELECT message.* FROM parley.sessions AS session CROSS JOIN LATERAL (
    SELECT ${visibleColumns}, message.first_token_ms, message.copied FROM parley.messages AS message
    WHERE message.session = session.id
    UNION ALL
    SELECT ${hiddenColumns}, message.first_token_ms, message.copied FROM parley.hidden_messages AS message
    WHERE message.session = session.id
  ) AS message
  WHERE ${ofProject} AND session.session_id = $2`);

// $3: the version of the session's row, which any change of it changes. $4 to $12: the session as it is from now on. $13: the session that
// holds the dropped messages. $14: their ids. $15: the positions, and $16 the ids, of the hidden messages that go. From $17: the visible
// messages that are new in their places. From $31: the hidden messages that are new, or hidden for another reason. $45 to $47: pin, archive
// and tags. $48: a note for the audit log. $49: the user. A place that is filled again is updated, because one statement cannot delete a
// row and add one with the same key.
const replace = statement(`
  WITH held AS (
    UPDATE parley.sessions AS session SET title = $4, updated_at = $5::bigint, message_count = $6::integer, mode = $7,
      parent_id = $8, forked_at = $9::integer, parameters = $10, system = $11, created_at = $12::bigint,
      pinned = $45::boolean, archived = $46::boolean, tags = $47::text, user_id = $49::text,
      turn_owner = CASE WHEN $6::integer % 2 = 1 THEN 'import' END,
      turn_until = CASE WHEN $6::integer % 2 = 1 THEN '-infinity'::timestamptz END,
      turn_position = CASE WHEN $6::integer % 2 = 1 THEN $6::integer - 1 END,
      turn_epoch = session.turn_epoch + 1, undone_turns = 0, restored_at = ${nowMs}
    WHERE ${ofProject} AND session.id = $2 AND session.xmin::text = $3
    RETURNING ${sessionColumns}, session.id, session.project
  ), cut AS (
    DELETE FROM parley.messages AS message USING held
    WHERE message.session = held.id AND message.position >= $6::integer
  ), input AS MATERIALIZED (
    SELECT * FROM ${inputMessages(17)}
  ), changed AS (
    UPDATE parley.messages AS message SET (${movedColumns}) = (${inputColumns})
    FROM held, input WHERE message.session = held.id AND message.position = input.position
    RETURNING message.position
  ), added AS (
    INSERT INTO parley.messages (session, ${movedColumns})
    SELECT held.id, ${inputColumns} FROM held, input WHERE NOT EXISTS (
      SELECT 1 FROM parley.messages AS message WHERE message.session = held.id AND message.position = input.position)
  ), gone AS (
    DELETE FROM parley.hidden_messages AS message
    USING held, unnest($15::integer[], $16::text[]) AS old (position, message_id)
    WHERE message.session = held.id AND message.position = old.position AND message.message_id = old.message_id
  ), hidden AS (
    INSERT INTO parley.hidden_messages (session, ${movedColumns}, alternative_of, undone_at)
    SELECT held.id, input.* FROM held, ${inputMessages(31)}
    ON CONFLICT (session, position, message_id) DO UPDATE SET alternative_of = excluded.alternative_of,
      undone_at = excluded.undone_at
  ), keys AS (
    UPDATE parley.idempotency AS known SET session = (
      SELECT session.id FROM parley.sessions AS session WHERE ${ofProject} AND session.session_id = $13)
    FROM held WHERE known.session = held.id AND known.message_id = ANY ($14::text[])
  ), untagged AS (
    DELETE FROM parley.session_tags USING held
    WHERE session_tags.session = held.id AND NOT coalesce($47::text::jsonb ? session_tags.tag, false)
  ), tagged AS (
    INSERT INTO parley.session_tags (session, tag, project)
    SELECT held.id, given.tag, held.project
    FROM held CROSS JOIN jsonb_array_elements_text($47::text::jsonb) AS given (tag)
    ON CONFLICT DO NOTHING
  ), unqueued AS (
    DELETE FROM parley.to_index USING held
    WHERE to_index.project = held.project AND to_index.session = held.id AND to_index.position >= $6::integer
  ), words AS (
    DELETE FROM parley.search USING held WHERE search.session = held.id
      AND (search.position >= $6::integer OR search.position IN (SELECT position FROM input))
  ), queued AS (
    INSERT INTO parley.to_index (project, session, position, bytes)
    SELECT held.project, held.id, input.position, octet_length(input.content) FROM held, input
    ON CONFLICT (project, session, position) DO UPDATE SET bytes = excluded.bytes
  ), ${auditing('held', '$48')}
  SELECT * FROM held`);

interface ReplacementCall {
  readonly record: SessionRecord;
  readonly replaces: ReplacedSession;
  readonly by: AuditOrigin | undefined;
  /** The owner of the server that asks; null for a process that does not serve. */
  readonly judge: string | null;
}

type FreeRow = SessionRow & { readonly id: number; readonly version: string };

type StoredRow = MessageRow & { readonly first_token_ms: number | null; readonly copied: boolean };

/** Stores an imported session; null if another session has the id. */
export async function importOrReplace(
  ask: Ask,
  rules: StoreRules,
  projectId: string,
  { record, by, judge }: Omit<ReplacementCall, 'replaces'>,
): Promise<Session | null> {
  const { replaces } = record;
  if (replaces === undefined) return importSession(ask, rules, projectId, record, by);
  return (
    (await replaceSession(ask, rules, projectId, { record, replaces, by, judge })) ??
    // It was replaced already, if the answer to the first call was lost.
    sameSession(ask, rules, projectId, record)
  );
}

/** Null if the stored session is not as it was read, if a turn runs in it, or if a message would be lost. */
async function replaceSession(
  ask: Ask,
  rules: StoreRules,
  projectId: string,
  { record, replaces, by, judge }: ReplacementCall,
): Promise<Session | null> {
  const { session: read } = replaces;
  const session = importedSession(record);
  const [row] = await ask<FreeRow>(free, [projectId, session.session_id, judge]);
  if (row === undefined || !rules.isSame(toSession(row), read)) return null;
  const stored = await ask<StoredRow>(everyMessage, [projectId, session.session_id]);
  const change = replacementOf(stored.map(toMessage), record);
  const keeper = keptInSession(record);
  const elsewhere =
    change.dropped.length === 0 || keeper === null
      ? []
      : await ask<StoredRow>(everyMessage, [projectId, keeper]);
  if (!areKeptElsewhere(change, elsewhere.map(toMessage))) return null;
  const [replaced] = await ask<SessionRow>(replace, [
    ...[projectId, row.id, row.version],
    ...[session.title, Date.parse(session.updated_at), session.message_count, session.mode],
    ...[session.parent_id, session.forked_at, parametersText(session.parameters), session.system],
    ...[Date.parse(session.created_at), keeper, change.dropped.map(({ message_id }) => message_id)],
    ...changeValues(stored, record, change),
    ...[session.pinned, session.archived, tagsText(session.tags), noteOf('import', projectId, by)],
    session.user,
  ]);
  return replaced === undefined ? null : toSession(replaced);
}

function changeValues(
  stored: readonly StoredRow[],
  record: SessionRecord,
  { added, moved, dropped }: Replacement,
): readonly unknown[] {
  const isHiddenRow = (row: MessageRow) => row.alternative_of != null || row.undone_at != null;
  const rows = new Map(stored.map((row) => [row.message_id, row]));
  const written = [...added, ...moved];
  const leave = new Set([...moved.filter((one) => !isHidden(one)), ...dropped].map((one) => one.message_id));
  const gone = stored.filter((row) => isHiddenRow(row) && leave.has(row.message_id));
  const columns = (messages: readonly Message[]) =>
    messageValues(
      messages,
      (one) => rows.get(one.message_id)?.copied ?? isCopy(record, one),
      (one) => rows.get(one.message_id)?.first_token_ms ?? null,
    );
  return [
    ...fieldsOf(gone, ['position', 'message_id']),
    ...columns(written.filter((one) => !isHidden(one))),
    ...columns(written.filter(isHidden)),
  ];
}
