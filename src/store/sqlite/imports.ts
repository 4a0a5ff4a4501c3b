// Stores a session that another store exported. If the project has a session with this id already, nothing is stored: that session is the
// same one, or another one.
import type { Message, Session } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import type { MessageRow } from '../rows.ts';
import { importedSession, messageColumns, parametersText, toMessage } from '../rows.ts';
import type { StoreRules } from '../store-rules.ts';
import type { Connection } from './connection.ts';
import { findSession, inProject } from './sessions.ts';
import { atOnce, type Steps } from './steps.ts';

/** The columns that an import fills, and their bindings. */
export const importedColumns = `title, created_at, updated_at, message_count, mode, parent_id, forked_at, parameters,
  system, turn_owner, turn_until, turn_position`;
export const importedValues = `@title, @createdAt, @updatedAt, @messageCount, @mode, @parentId, @forkedAt, @parameters,
  @system, @turnOwner, @turnUntil, @turnPosition`;

export const importStatements = {
  addSession: `
    INSERT INTO sessions (session_id, project, ${importedColumns})
    VALUES (@sessionId, (SELECT id FROM projects WHERE project_id = @projectId), ${importedValues})
    ON CONFLICT (project, session_id) DO NOTHING`,
  message: `
    SELECT ${messageColumns} FROM sessions CROSS JOIN messages AS message ON message.session = sessions.id
    WHERE ${inProject} AND session_id = @sessionId AND deleted_at IS NULL AND message.position = @position`,
} as const;

/** `@session` is a row number that a statement with the project's id has returned. */
const addMessageStatement = `
  INSERT INTO messages (session, position, message_id, role, content, mode, finish_reason, input_tokens,
    output_tokens, error_code, created_at)
  VALUES (@session, @position, @messageId, @role, @content, @mode, @finishReason, @inputTokens, @outputTokens,
    @errorCode, @createdAt)`;

/** How many messages are compared before other writes run: a few milliseconds' work. */
const messagesOfStep = 100;

/** Null if another session has the id. Imports a short session in one transaction; long-import.ts imports the others. */
export function importSession(
  connection: Connection,
  projectId: string,
  record: SessionRecord,
  rules: StoreRules,
): Session | null {
  const { session, messages } = record;
  const bindings = { projectId, sessionId: session.session_id, ...importBindings(record) };
  const { changes, rowId } = connection.run(importStatements.addSession, bindings);
  if (changes === 0) return atOnce(sameSession(connection, projectId, record, rules));
  for (const message of messages) addImportedMessage(connection, rowId, message);
  return findSession(connection, projectId, session.session_id);
}

export function addImportedMessage(connection: Connection, session: number, message: Message): void {
  connection.run(addMessageStatement, {
    session,
    messageId: message.message_id,
    position: message.position,
    role: message.role,
    content: message.content,
    mode: message.mode,
    finishReason: message.finish_reason,
    inputTokens: message.usage?.input_tokens ?? null,
    outputTokens: message.usage?.output_tokens ?? null,
    errorCode: message.error_code ?? null,
    createdAt: Date.parse(message.created_at),
  });
}

export function importBindings(record: SessionRecord) {
  const { messages } = record;
  const session = importedSession(record);
  const last = messages.at(-1);
  // A message without a reply becomes a turn that no process runs. The next chat closes it, as it closes the turn of a killed process.
  const isOpen = last?.role === 'user';
  return {
    title: session.title,
    createdAt: Date.parse(session.created_at),
    updatedAt: Date.parse(session.updated_at),
    messageCount: messages.length,
    mode: session.mode,
    parentId: session.parent_id,
    forkedAt: session.forked_at,
    parameters: parametersText(session.parameters),
    system: session.system,
    turnOwner: isOpen ? 'import' : null,
    turnUntil: isOpen ? 0 : null,
    turnPosition: isOpen ? last.position : null,
  };
}

/** The stored session if the imported one equals it; null if they differ. */
export function* sameSession(
  connection: Connection,
  projectId: string,
  { session, messages }: SessionRecord,
  rules: StoreRules,
): Steps<Session | null> {
  const kept = findSession(connection, projectId, session.session_id);
  if (kept === null || !rules.isSame(kept, session)) return null;
  for (const [index, message] of messages.entries()) {
    if (index > 0 && index % messagesOfStep === 0) yield;
    const bindings = { projectId, sessionId: session.session_id, position: message.position };
    const row = connection.get<MessageRow>(importStatements.message, bindings);
    if (row === undefined || !rules.isSame(toMessage(row), message)) return null;
  }
  return kept;
}
