// Stores a session that another store exported. If the project has a session with this id already, nothing is stored: the
// stored session then equals the imported one, or differs from it.
import type { Message, Session } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import type { AuditOrigin } from '../audit-log.ts';
import { addedMessages, importedSession, isCopy, isSameMessage } from '../imported-session.ts';
import type { MessageRow } from '../rows.ts';
import { hiddenColumns, messageColumns, parametersText, tagsText, toMessage } from '../rows.ts';
import type { StoreRules } from '../store-rules.ts';
import { auditing, noteOf } from './audit.ts';
import { fieldsOf } from './columns.ts';
import type { Ask } from './connection-pool.ts';
import { inputColumns, inputMessages, messageValues, movedColumns } from './message-columns.ts';
import { findSession, ofProject } from './sessions.ts';
import { nowMs, statement } from './statement.ts';

/** SQL for a statement's WITH: adds the visible messages, whose first array is `$first`, to the session of the row `held`. */
const adding = (held: string, first: number) => `
  input AS MATERIALIZED (
    SELECT * FROM ${inputMessages(first)}
  ), messages AS (
    INSERT INTO parley.messages (session, ${movedColumns})
    SELECT ${held}.id, ${inputColumns} FROM ${held} CROSS JOIN input
  ), queued AS (
    INSERT INTO parley.to_index (project, session, position, bytes)
    SELECT ${held}.project, ${held}.id, input.position, octet_length(input.content)
    FROM ${held} CROSS JOIN input WHERE input.content <> ''
  )`;

// $1 to $6 and $8 to $16: the session. $7: true if its last message has no reply. $17: a note for the audit log. From $18: the visible
// messages. From $32: the hidden ones.
// Retention counts `restored_at` as an activity. Without it, all sessions that were last used long ago would expire at once.
// A last message without a reply becomes a turn that no process runs. The next chat closes it, as it closes the turn of a killed process.
const addSession = statement(`
  WITH added AS (
    INSERT INTO parley.sessions (project, session_id, title, created_at, updated_at, message_count, mode, parent_id,
      forked_at, parameters, system, pinned, archived, tags, user_id, turn_owner, turn_until, turn_position,
      restored_at)
    SELECT projects.id, $2, $3, $4::bigint, $5::bigint, $6::integer, $8, $9, $10::integer, $11, $12,
      $13::boolean, $14::boolean, $15::text, $16::text,
      CASE WHEN $7 THEN 'import' END, CASE WHEN $7 THEN '-infinity'::timestamptz END,
      CASE WHEN $7 THEN $6::integer - 1 END, ${nowMs}
    FROM parley.projects WHERE projects.project_id = $1
    ON CONFLICT (project, session_id) DO NOTHING
    RETURNING id, project, session_id
  ), ${adding('added', 18)}, hidden AS (
    INSERT INTO parley.hidden_messages (session, ${movedColumns}, alternative_of, undone_at)
    SELECT added.id, input.* FROM added CROSS JOIN ${inputMessages(32)}
  ), tagged AS (
    INSERT INTO parley.session_tags (session, tag, project)
    SELECT added.id, imported.tag, added.project
    FROM added CROSS JOIN jsonb_array_elements_text($15::text::jsonb) AS imported (tag)
  ), ${auditing('added', '$17')}
  SELECT id FROM added`);

const growable = statement(`
  SELECT session.id, session.turn_epoch FROM parley.sessions AS session
  WHERE ${ofProject} AND session.session_id = $2
    AND session.deleted_at IS NULL AND (session.turn_owner IS NULL OR session.turn_owner = 'import')
    AND session.message_count = $3::integer AND NOT EXISTS (
      SELECT 1 FROM parley.hidden_messages AS hidden WHERE hidden.session = session.id AND hidden.position >= $3::integer)`);

// A turn that began since the comparison has changed the count, $6, or the epoch, $8. $7: a note for the audit log. From $9: the visible
// messages.
const grow = statement(`
  WITH grown AS (
    UPDATE parley.sessions AS session SET message_count = $2::integer, mode = $4,
      updated_at = greatest(session.updated_at, $3::bigint),
      turn_owner = CASE WHEN $5 THEN 'import' END,
      turn_until = CASE WHEN $5 THEN '-infinity'::timestamptz END,
      turn_position = CASE WHEN $5 THEN $2::integer - 1 END, restored_at = ${nowMs}
    WHERE session.id = $1 AND session.message_count = $6::integer AND session.deleted_at IS NULL
      AND session.turn_epoch = $8::integer AND (session.turn_owner IS NULL OR session.turn_owner = 'import')
    RETURNING session.id, session.project, session.session_id
  ), ${adding('grown', 9)}, ${auditing('grown', '$7')}
  SELECT id FROM grown`);

const keptMessages = statement(`
  SELECT ${messageColumns} FROM parley.sessions AS session
  JOIN parley.messages AS message ON message.session = session.id
  WHERE ${ofProject} AND session.session_id = $2
    AND session.deleted_at IS NULL AND message.position >= $3 AND message.position < $4
  ORDER BY message.position`);

const keptHidden = statement(`
  SELECT ${hiddenColumns} FROM parley.sessions AS session
  CROSS JOIN unnest($3::integer[], $4::text[]) WITH ORDINALITY AS input (position, message_id, place)
  JOIN parley.hidden_messages AS message ON message.session = session.id AND message.position = input.position
    AND message.message_id = input.message_id
  WHERE ${ofProject} AND session.session_id = $2
    AND session.deleted_at IS NULL
  ORDER BY input.place`);

/** How many stored messages are read and compared at a time. */
const comparedAtOnce = 100;

/** Null if another session has the id. */
export async function importSession(
  ask: Ask,
  rules: StoreRules,
  projectId: string,
  record: SessionRecord,
  by?: AuditOrigin,
): Promise<Session | null> {
  const { messages, hidden_messages: hidden = [] } = record;
  const session = importedSession(record);
  const added = await ask(addSession, [
    ...[projectId, session.session_id, session.title],
    ...[Date.parse(session.created_at), Date.parse(session.updated_at), messages.length],
    messages.at(-1)?.role === 'user',
    ...[session.mode, session.parent_id, session.forked_at, parametersText(session.parameters)],
    ...[session.system, session.pinned, session.archived, tagsText(session.tags), session.user],
    noteOf('import', projectId, by),
    ...messageValues(messages, (message) => isCopy(record, message)),
    ...messageValues(hidden, (message) => isCopy(record, message)),
  ]);
  if (added.length > 0) return session;
  return (await sameSession(ask, rules, projectId, record)) ?? growSession(ask, rules, projectId, record, by);
}

/** Adds what the stored session lacks; null if it is not the beginning of the imported one. */
async function growSession(
  ask: Ask,
  rules: StoreRules,
  projectId: string,
  record: SessionRecord,
  by: AuditOrigin | undefined,
): Promise<Session | null> {
  const stored = await findSession(ask, projectId, record.session.session_id);
  const added = stored && addedMessages(stored, record);
  if (!stored || !added) return null;
  const places = [projectId, stored.session_id];
  const [session] = await ask<{ readonly id: number; readonly turn_epoch: number }>(growable, [
    ...places,
    stored.message_count,
  ]);
  if (session === undefined) return null;
  for (let from = 0; from < stored.message_count; from += comparedAtOnce) {
    const to = Math.min(from + comparedAtOnce, stored.message_count);
    const rows = await ask<MessageRow>(keptMessages, [...places, from, to]);
    const areSame = rows.every((row, index) => isSameMessage(toMessage(row), record.messages[from + index]));
    if (rows.length !== to - from || !areSame) return null;
  }
  const { mode, updated_at } = importedSession(record);
  const grown = await ask(grow, [
    ...[session.id, record.messages.length, Date.parse(updated_at), mode, added.at(-1)?.role === 'user'],
    ...[stored.message_count, noteOf('import', projectId, by), session.turn_epoch],
    ...messageValues(added, () => false),
  ]);
  // An earlier sending of the statement may have added them.
  return grown.length === 0
    ? sameSession(ask, rules, projectId, record)
    : findSession(ask, projectId, stored.session_id);
}

/** The stored session if the imported one equals it; null if they differ. It may have more hidden messages, which came after the export. */
export async function sameSession(
  ask: Ask,
  rules: StoreRules,
  projectId: string,
  { session, messages, hidden_messages: hidden = [] }: SessionRecord,
): Promise<Session | null> {
  const stored = await findSession(ask, projectId, session.session_id);
  if (!stored || !rules.isSame(stored, session)) return null;
  const places = [projectId, session.session_id];
  const areSame = (rows: readonly MessageRow[], imported: readonly Message[]) =>
    rows.length === imported.length &&
    rows.every((row, index) => rules.isSame(toMessage(row), imported[index] as Message));
  for (let from = 0; from < messages.length; from += comparedAtOnce) {
    const imported = messages.slice(from, from + comparedAtOnce);
    const rows = await ask<MessageRow>(keptMessages, [...places, from, from + imported.length]);
    if (!areSame(rows, imported)) return null;
  }
  for (let from = 0; from < hidden.length; from += comparedAtOnce) {
    const imported = hidden.slice(from, from + comparedAtOnce);
    const ids = fieldsOf(imported, ['position', 'message_id']);
    if (!areSame(await ask<MessageRow>(keptHidden, [...places, ...ids]), imported)) return null;
  }
  return stored;
}
