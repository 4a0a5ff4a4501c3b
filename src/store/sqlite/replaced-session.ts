// Replaces a stored session by an imported one, in one transaction (../replaced-session.ts). A message that is hidden or shown moves to the
// other table with its idempotency keys. The keys of a message that is kept in another session go to that session.
import { isHidden, type Message, type Session } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { isCopy } from '../imported-session.ts';
import { areKeptElsewhere, keptInSession, replacementOf } from '../replaced-session.ts';
import { hiddenColumns, type MessageRow, toMessage } from '../rows.ts';
import type { StoreRules } from '../store-rules.ts';
import type { Clocks } from './age-clock.ts';
import type { Connection } from './connection.ts';
import { movedColumns, visibleColumns } from './hidden-messages.ts';
import type { StepTools } from './idempotency.ts';
import { addImportedMessages, importBindings, importedColumns, importedValues } from './imported-rows.ts';
import { type AuditChange, importSession, sameSession } from './imports.ts';
import { noTurnRuns } from './lease-clock.ts';
import { replaceTags } from './ordering.ts';
import { findSession, thisSession } from './sessions.ts';
import { atOnce } from './steps.ts';
import { sessionRow } from './turn-rows.ts';

const ofSession = `session = ${sessionRow}`;

/** `@session`, `@id` and `@other` are row numbers that a statement with the project's id has returned. */
const replaceStatements = {
  free: `SELECT id AS session FROM sessions WHERE ${thisSession} AND deleted_at IS NULL
    AND (turn_owner = 'import' OR ${noTurnRuns})
    AND NOT EXISTS (SELECT 1 FROM reply_parts WHERE reply_parts.session = sessions.id)`,
  messages: `
    SELECT id, ${visibleColumns} FROM messages AS message WHERE ${ofSession}
    UNION ALL SELECT id, ${hiddenColumns} FROM hidden_messages AS message WHERE ${ofSession}`,
  replace: `
    UPDATE sessions SET (${importedColumns}) = (${importedValues}), turn_epoch = turn_epoch + 1, undone_turns = 0
    WHERE id = @session`,
  hide: `
    INSERT INTO hidden_messages (${movedColumns}, alternative_of, undone_at)
    SELECT ${movedColumns}, @alternativeOf, @undoneAt FROM messages WHERE id = @id`,
  show: `INSERT INTO messages (${movedColumns}) SELECT ${movedColumns} FROM hidden_messages WHERE id = @id`,
  mark: 'UPDATE hidden_messages SET alternative_of = @alternativeOf, undone_at = @undoneAt WHERE id = @id',
  remove: 'DELETE FROM messages WHERE id = @id',
  removeHidden: 'DELETE FROM hidden_messages WHERE id = @id',
  keysOfVisible: 'UPDATE idempotency SET message = @message, hidden_message = @hidden WHERE message = @id',
  keysOfHidden:
    'UPDATE idempotency SET message = @message, hidden_message = @hidden WHERE hidden_message = @id',
} as const;

interface StoredRow extends MessageRow {
  readonly id: number;
}

/** Stores an imported session; null if another session has the id. */
export function importOrReplace(
  { connection, rules, clocks }: StepTools,
  projectId: string,
  record: SessionRecord,
  audit: AuditChange,
): Session | null {
  if (record.replaces === undefined)
    return importSession(connection, projectId, record, { rules, now: clocks().now, audit });
  const before = findSession(connection, projectId, record.session.session_id);
  const stored = replaceSession(connection, projectId, record, rules, clocks());
  return stored && before && rules.isSame(stored, before) ? stored : audit(stored);
}

/** Null if the stored session is not as it was read, if a turn runs in it, or if a message would be lost. */
function replaceSession(
  connection: Connection,
  projectId: string,
  record: SessionRecord,
  rules: StoreRules,
  { clock, now }: Clocks,
): Session | null {
  const sessionId = record.session.session_id;
  const { session: read } = record.replaces ?? record;
  const keeper = keptInSession(record);
  const stored = findSession(connection, projectId, sessionId);
  if (stored === null) return null;
  if (!rules.isSame(stored, read)) return atOnce(sameSession(connection, projectId, record, rules));
  const place = { projectId, sessionId, clock };
  const found = connection.get<{ readonly session: number }>(replaceStatements.free, place);
  if (found === undefined) return null;
  const rowsOf = (id: string) =>
    connection.all<StoredRow>(replaceStatements.messages, { projectId, sessionId: id });
  const rows = new Map(rowsOf(sessionId).map((row) => [row.message_id, row]));
  const change = replacementOf([...rows.values()].map(toMessage), record);
  const elsewhere = change.dropped.length === 0 || keeper === null ? [] : rowsOf(keeper);
  if (!areKeptElsewhere(change, elsewhere.map(toMessage))) return null;
  const others = new Map(elsewhere.map((row) => [row.message_id, row]));
  const replaced = new ReplacedRows(connection);
  // A place must be free before a message can be shown in it.
  for (const { message_id } of change.dropped) replaced.drop(rows.get(message_id), others.get(message_id));
  for (const message of change.moved.filter(isHidden)) replaced.hide(rows.get(message.message_id), message);
  for (const message of change.moved.filter((one) => !isHidden(one)))
    replaced.show(rows.get(message.message_id));
  addImportedMessages(connection, found.session, change.added, (message) => isCopy(record, message));
  connection.run(replaceStatements.replace, { ...importBindings(record, now), session: found.session });
  replaceTags(connection, found.session);
  return findSession(connection, projectId, sessionId);
}

class ReplacedRows {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  hide(row: StoredRow | undefined, { alternative_of, undone_at }: Message): void {
    if (row === undefined) return;
    const { id } = row;
    const marks = {
      id,
      alternativeOf: alternative_of ?? null,
      undoneAt: undone_at === undefined ? null : Date.parse(undone_at),
    };
    if (isHidden(toMessage(row))) {
      this.#connection.run(replaceStatements.mark, marks);
      return;
    }
    const { rowId: hidden } = this.#connection.run(replaceStatements.hide, marks);
    this.#connection.run(replaceStatements.keysOfVisible, { id, message: null, hidden });
    this.#connection.run(replaceStatements.remove, { id });
  }

  show(row: StoredRow | undefined): void {
    if (row === undefined) return;
    const { id } = row;
    const { rowId: message } = this.#connection.run(replaceStatements.show, { id });
    this.#connection.run(replaceStatements.keysOfHidden, { id, message, hidden: null });
    this.#connection.run(replaceStatements.removeHidden, { id });
  }

  drop(row: StoredRow | undefined, other: StoredRow | undefined): void {
    if (row === undefined || other === undefined) return;
    const isOtherHidden = isHidden(toMessage(other));
    const keys = {
      id: row.id,
      message: isOtherHidden ? null : other.id,
      hidden: isOtherHidden ? other.id : null,
    };
    const wasHidden = isHidden(toMessage(row));
    this.#connection.run(replaceStatements[wasHidden ? 'keysOfHidden' : 'keysOfVisible'], keys);
    this.#connection.run(replaceStatements[wasHidden ? 'removeHidden' : 'remove'], { id: row.id });
  }
}
