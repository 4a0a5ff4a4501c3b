// Stores a session that another store exported. If the project has a session with this id already, nothing is stored: the
// stored session then equals the imported one, or differs from it.
import type { Session } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { addedMessages, importedSession, isCopy, isSameMessage } from '../imported-session.ts';
import type { MessageRow } from '../rows.ts';
import { hiddenColumns, messageColumns, toMessage } from '../rows.ts';
import type { StoreRules } from '../store-rules.ts';
import type { Connection } from './connection.ts';
import { addImportedMessages, importBindings, importedColumns, importedValues } from './imported-rows.ts';
import { keepTags } from './ordering.ts';
import { findSession, inProject, projectNumber } from './sessions.ts';
import { atOnce, type Steps } from './steps.ts';

export const importStatements = {
  addSession: `
    INSERT INTO sessions (session_id, project, ${importedColumns})
    VALUES (@sessionId, ${projectNumber}, ${importedValues})
    ON CONFLICT (project, session_id) DO NOTHING`,
  message: `
    SELECT ${messageColumns} FROM sessions CROSS JOIN messages AS message ON message.session = sessions.id
    WHERE ${inProject} AND session_id = @sessionId AND deleted_at IS NULL AND message.position = @position`,
  find: `SELECT sessions.id AS session FROM sessions WHERE ${inProject} AND session_id = @sessionId
    AND deleted_at IS NULL AND (turn_owner IS NULL OR turn_owner = 'import')
    AND NOT EXISTS (SELECT 1 FROM hidden_messages WHERE hidden_messages.session = sessions.id AND position >= @from)`,
  grow: `
    UPDATE sessions SET message_count = @messageCount, updated_at = max(updated_at, @updatedAt), mode = @mode,
      turn_owner = @turnOwner, turn_until = @turnUntil, turn_position = @turnPosition,
      restored_at = @importedAt
    WHERE id = @session AND ${inProject}`,
  hidden: `
    SELECT ${hiddenColumns} FROM sessions CROSS JOIN hidden_messages AS message ON message.session = sessions.id
    WHERE ${inProject} AND session_id = @sessionId AND deleted_at IS NULL AND message.position = @position
      AND message.message_id = @messageId`,
} as const;

/** How many messages are compared before other writes run: a few milliseconds' work. */
const messagesOfStep = 100;

/** Records a changed session in the audit log, and returns it. */
export type AuditChange = (changed: Session | null) => Session | null;

/** Null if another session has the id. Imports a short session in one transaction; long-import.ts imports the others. */
export function importSession(
  connection: Connection,
  projectId: string,
  record: SessionRecord,
  { rules, now, audit }: { readonly rules: StoreRules; readonly now: number; readonly audit: AuditChange },
): Session | null {
  const { messages, hidden_messages = [] } = record;
  const session = importedSession(record);
  const bindings = { projectId, sessionId: session.session_id, ...importBindings(record, now, session) };
  const { changes, rowId } = connection.run(importStatements.addSession, bindings);
  if (changes === 0)
    return (
      atOnce(sameSession(connection, projectId, record, rules)) ??
      audit(growSession(connection, projectId, record, now))
    );
  if (bindings.tags !== null) keepTags(connection, rowId);
  const added = [...messages, ...hidden_messages];
  addImportedMessages(connection, rowId, added, (message) => isCopy(record, message));
  return audit(session);
}

/** Adds what the stored session lacks, in one transaction; null if it is not the beginning of the imported one. */
export function growSession(
  connection: Connection,
  projectId: string,
  record: SessionRecord,
  now: number,
): Session | null {
  const sessionId = record.session.session_id;
  const kept = findSession(connection, projectId, sessionId);
  const added = kept && addedMessages(kept, record);
  if (kept === null || added === null) return null;
  const place = { projectId, sessionId };
  const found = connection.get<{ readonly session: number }>(importStatements.find, {
    ...place,
    from: kept.message_count,
  });
  if (found === undefined) return null;
  for (let position = 0; position < kept.message_count; position += 1) {
    const row = connection.get<MessageRow>(importStatements.message, { position, ...place });
    if (row === undefined || !isSameMessage(toMessage(row), record.messages[position])) return null;
  }
  const values = importBindings(record, now);
  connection.run(importStatements.grow, { projectId, session: found.session, ...values });
  addImportedMessages(connection, found.session, added, () => false);
  return findSession(connection, projectId, sessionId);
}

/** The stored session if the imported one equals it; null if they differ. */
export function* sameSession(
  connection: Connection,
  projectId: string,
  { session, messages, hidden_messages = [] }: SessionRecord,
  rules: StoreRules,
): Steps<Session | null> {
  const kept = findSession(connection, projectId, session.session_id);
  if (kept === null || !rules.isSame(kept, session)) return null;
  // The stored session may have more hidden messages: they came after the export.
  for (const [index, message] of [...messages, ...hidden_messages].entries()) {
    if (index > 0 && index % messagesOfStep === 0) yield;
    const { position, message_id: messageId } = message;
    const bindings = { projectId, sessionId: session.session_id, position, messageId };
    const statement = index < messages.length ? importStatements.message : importStatements.hidden;
    const row = connection.get<MessageRow>(statement, bindings);
    if (row === undefined || !rules.isSame(toMessage(row), message)) return null;
  }
  return kept;
}
