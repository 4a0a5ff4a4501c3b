// The rows of a session that comes from elsewhere, or is a fork, with all of its messages.
import { isHidden, type Message, type SessionOrdering } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { importedSession, parametersText, tagsText } from '../rows.ts';
import type { Connection } from './connection.ts';

/** The columns that an import fills, and their bindings. */
export const importedColumns = `title, created_at, updated_at, message_count, mode, parent_id, forked_at, parameters,
  system, pinned, archived, tags, user_id, turn_owner, turn_until, turn_position`;
export const importedValues = `@title, @createdAt, @updatedAt, @messageCount, @mode, @parentId, @forkedAt, @parameters,
  @system, @pinned, @archived, @tags, @user, @turnOwner, @turnUntil, @turnPosition`;

const columns = `session, position, message_id, role, content, mode, finish_reason, input_tokens, output_tokens,
  error_code, created_at, copied`;
const values = `@session, @position, @messageId, @role, @content, @mode, @finishReason, @inputTokens, @outputTokens,
  @errorCode, @createdAt, @copied`;

/** `@session` is a row number that a statement with the project's id has returned. */
const addStatements = {
  message: `INSERT INTO messages (${columns}) VALUES (${values})`,
  hidden: `
    INSERT INTO hidden_messages (${columns}, alternative_of, undone_at) VALUES (${values}, @alternativeOf, @undoneAt)`,
} as const;

/** `isCopy`: the message counts in no usage report. */
export function addImportedMessage(
  connection: Connection,
  session: number,
  message: Message,
  isCopy: boolean,
): void {
  connection.run(isHidden(message) ? addStatements.hidden : addStatements.message, {
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
    copied: isCopy ? 1 : null,
    alternativeOf: message.alternative_of ?? null,
    undoneAt: message.undone_at === undefined ? null : Date.parse(message.undone_at),
  });
}

export function orderingBindings({ pinned, archived, tags }: SessionOrdering) {
  return { pinned: Number(pinned), archived: Number(archived), tags: tagsText(tags) };
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
    ...orderingBindings(session),
    user: session.user,
    turnOwner: isOpen ? 'import' : null,
    turnUntil: isOpen ? 0 : null,
    turnPosition: isOpen ? last.position : null,
  };
}
