// The rows of a session that comes from elsewhere, or is a fork, with all of its messages.
import { isHidden, type Message, type Session } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { importedSession } from '../imported-session.ts';
import { parametersText } from '../rows.ts';
import type { Connection } from './connection.ts';
import type { SqlValue } from './driver.ts';
import { orderingBindings } from './ordering.ts';

/** The columns that an import fills, and their bindings. */
export const importedColumns = `title, created_at, updated_at, message_count, mode, parent_id, forked_at, parameters,
  system, pinned, archived, tags, user_id, turn_owner, turn_until, turn_position, restored_at`;
export const importedValues = `@title, @createdAt, @updatedAt, @messageCount, @mode, @parentId, @forkedAt, @parameters,
  @system, @pinned, @archived, @tags, @user, @turnOwner, @turnUntil, @turnPosition, @importedAt`;

const columns = `session, position, message_id, role, content, mode, finish_reason, input_tokens, output_tokens,
  error_code, created_at, copied`;
/** The first value is a row number that a statement with the project's id has returned. */
const row = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';

/**
 * Most rows of one statement. SQLite copies each page that a statement changes, to undo the statement if it fails, so one statement of many
 * rows writes less than many statements.
 */
const maxRows = 32;
/** A statement for each number of rows. Each is prepared once. */
const addStatements = Array.from(
  { length: maxRows + 1 },
  (_, rows) => `INSERT INTO messages (${columns}) VALUES ${Array(rows).fill(row).join(', ')}`,
);
const addHidden = `
  INSERT INTO hidden_messages (${columns}, alternative_of, undone_at) VALUES (${row.slice(1, -1)}, ?, ?)`;

/** `isCopy`: the message counts in no usage report. */
export function addImportedMessages(
  connection: Connection,
  session: number,
  messages: readonly Message[],
  isCopy: (message: Message) => boolean,
): void {
  const visible: Message[] = [];
  for (const message of messages) {
    if (!isHidden(message)) visible.push(message);
    else connection.runValues(addHidden, hiddenValues(session, message, isCopy(message)));
  }
  for (let at = 0; at < visible.length; at += maxRows) {
    const together = visible.slice(at, at + maxRows);
    const values: SqlValue[] = [];
    for (const message of together) addValues(values, session, message, isCopy(message));
    connection.runValues(addStatements[together.length] as string, values);
  }
}

/** One list for all rows of a statement makes less garbage than one for each row. */
function addValues(values: SqlValue[], session: number, message: Message, isCopy: boolean): void {
  values.push(
    session,
    message.position,
    message.message_id,
    message.role,
    message.content,
    message.mode,
    message.finish_reason,
    message.usage?.input_tokens ?? null,
    message.usage?.output_tokens ?? null,
    message.error_code ?? null,
    Date.parse(message.created_at),
    isCopy ? 1 : null,
  );
}

function hiddenValues(session: number, message: Message, isCopy: boolean): SqlValue[] {
  const { alternative_of, undone_at } = message;
  const undoneAt = undone_at === undefined ? null : Date.parse(undone_at);
  const values: SqlValue[] = [];
  addValues(values, session, message, isCopy);
  values.push(alternative_of ?? null, undoneAt);
  return values;
}

/** Retention counts `importedAt` as an activity. Without it, all sessions that were last used long ago would expire at once. */
export function importBindings(
  record: SessionRecord,
  importedAt: number,
  session: Session = importedSession(record),
) {
  const { messages } = record;
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
    importedAt,
  };
}
