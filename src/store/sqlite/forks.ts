// Copies the visible line of a session into a new one, in several transactions if it is long (staged-session.ts). A long line is read from
// a snapshot, so the fork shows one moment of its parent, whatever is written meanwhile.
import { ParleyError } from '../../service/errors.ts';
import { isFromElsewhere, noOrdering, type Session } from '../../service/session.ts';
import { type MessageRow, messageColumns, type SessionRow, toMessage } from '../rows.ts';
import type { Fork, ForkEnd, IdempotencyKey } from '../session-store.ts';
import type { Connection } from './connection.ts';
import { findRecorded, keepAnswer, type StepTools, toolsNow } from './idempotency.ts';
import { addImportedMessages } from './imported-rows.ts';
import { partLimits } from './long-import.ts';
import { orderingBindings } from './ordering.ts';
import { findSession, sessionColumns, thisSession } from './sessions.ts';
import { StagedSession } from './staged-session.ts';
import type { Steps } from './steps.ts';

export const forkStatements = {
  parent: `SELECT ${sessionColumns}, id FROM sessions WHERE ${thisSession} AND deleted_at IS NULL`,
  redactions: `SELECT value FROM meta WHERE name = 'redactions'`,
  // A message that is undone by now is hidden.
  isRedacted: `
    SELECT 1 FROM (
      SELECT content FROM messages WHERE session = @parent AND position = @position AND message_id = @message_id
      UNION ALL
      SELECT content FROM hidden_messages WHERE session = @parent AND position = @position AND message_id = @message_id
    ) WHERE content <> @content`,
  // A session with so few messages is measured; a longer one counts as long anyway.
  size: `
    SELECT sessions.message_count AS messages, CASE WHEN sessions.message_count <= ${partLimits.messages} THEN (
      SELECT coalesce(sum(octet_length(content)), 0) FROM messages WHERE messages.session = sessions.id) END AS bytes
    FROM sessions WHERE ${thisSession} AND deleted_at IS NULL`,
} as const;

/** `@parent` is a row number that a statement with the project's id has returned. */
const nextMessages = `
  SELECT ${messageColumns} FROM messages AS message
  WHERE session = @parent AND position > @after AND position <= @through
  ORDER BY position LIMIT ${partLimits.messages}`;

interface ForkRequest {
  readonly projectId: string;
  readonly fork: Fork;
  readonly idempotencyKey: IdempotencyKey | null;
}

/** True if the session is copied in more than one transaction. */
export function isLongFork(
  connection: Connection,
  projectId: string,
  { session_id: sessionId }: Fork,
): boolean {
  const size = connection.get<{ bytes: number | null }>(forkStatements.size, { projectId, sessionId });
  return size !== undefined && (size.bytes === null || size.bytes > partLimits.units);
}

export class ForkCopy {
  readonly #tools: StepTools;
  readonly #projectId: string;
  readonly #fork: Fork;
  readonly #key: IdempotencyKey | null;
  readonly #staged: StagedSession;

  constructor(tools: StepTools, { projectId, fork, idempotencyKey }: ForkRequest) {
    this.#tools = tools;
    this.#projectId = projectId;
    this.#fork = fork;
    this.#key = idempotencyKey;
    this.#staged = new StagedSession(tools, projectId);
  }

  /** Each step is one transaction. `source`: where the parent is read, the same state in each step. */
  *steps(source: Connection): Steps<ForkEnd> {
    const { turns } = this.#tools.rules;
    const recorded = this.#recorded();
    if (recorded !== null) return recorded;
    const bindings = { projectId: this.#projectId, sessionId: this.#fork.session_id };
    const parent = source.get<SessionRow & { readonly id: number }>(forkStatements.parent, bindings);
    if (parent === undefined) return { kind: 'not_found' };
    const through = turns.forkThrough(parent.message_count, this.#fork.through);
    if (through === null) return { kind: 'no_reply', last: turns.forkThrough(parent.message_count, null) };
    const session = this.#staged.begin(this.#values(parent, through));
    for (let after = -1; after < through; ) {
      if (after >= 0) {
        yield;
        this.#staged.hold();
      }
      after = this.#copy(source, { parent: parent.id, session, after, through });
    }
    this.#refuseRedacted(source, parent.id, through);
    // Another process may have used the key meanwhile.
    const repeated = this.#recorded();
    if (repeated !== null) {
      yield* this.discard();
      return repeated;
    }
    this.#staged.list(this.#fork.newSession.session_id);
    return this.#keep();
  }

  /** Removes the stored part after a failure. */
  *discard(): Steps<void> {
    yield* this.#staged.discard();
  }

  /** Throws `STORE_BUSY` if a redaction has taken texts out of the parent since the source was read. */
  #refuseRedacted(source: Connection, parent: number, through: number): void {
    const { connection } = this.#tools;
    const count = (of: Connection) => of.get<{ value: string }>(forkStatements.redactions)?.value;
    if (count(source) === count(connection)) return;
    for (let after = -1; after < through; ) {
      const rows = source.all<MessageRow>(nextMessages, { parent, after, through });
      for (const { position, message_id, content } of rows) {
        const values = { parent, position, message_id, content };
        if (connection.get(forkStatements.isRedacted, values) !== undefined) throw redactedMeanwhile();
      }
      after = rows.at(-1)?.position ?? through;
    }
  }

  /** Copies the next part and returns the position of its last message. */
  #copy(
    source: Connection,
    place: {
      readonly parent: number;
      readonly session: number;
      readonly after: number;
      readonly through: number;
    },
  ): number {
    let units = 0;
    const rows = source.allWhile<MessageRow>(nextMessages, place, ({ content }) => {
      const isFull = units > 0 && units + content.length > partLimits.units;
      units += content.length;
      return !isFull;
    });
    const copies = rows.map((row) => {
      const message = toMessage(row);
      const mark = isFromElsewhere(message) ? '/copy' : '';
      return { ...message, message_id: `${this.#fork.copy_id_prefix}_${row.position}${mark}` };
    });
    addImportedMessages(this.#tools.connection, place.session, copies, () => true);
    return rows.at(-1)?.position ?? place.through;
  }

  #values(parent: SessionRow, through: number) {
    const { session_id, newSession, now } = this.#fork;
    return {
      title: newSession.title === undefined ? parent.title : newSession.title,
      createdAt: now,
      // No message is newer than the last activity, also if the time of day was set back.
      updatedAt: Math.max(now, parent.updated_at),
      messageCount: through + 1,
      mode: parent.mode,
      parentId: session_id,
      forkedAt: through,
      parameters: parent.parameters,
      system: parent.system,
      ...orderingBindings(noOrdering),
      user: parent.user_id,
      ...{ turnOwner: null, turnUntil: null, turnPosition: null, importedAt: null },
    };
  }

  #recorded(): ForkEnd | null {
    return this.#key && findRecorded<Session>(toolsNow(this.#tools), this.#projectId, this.#key);
  }

  #keep(): ForkEnd {
    const { connection } = this.#tools;
    const session = findSession(connection, this.#projectId, this.#fork.newSession.session_id);
    if (session === null) return { kind: 'not_found' };
    return keepAnswer(toolsNow(this.#tools), this.#projectId, this.#key, session);
  }
}

function redactedMeanwhile(): ParleyError {
  return new ParleyError('STORE_BUSY', 'Texts were taken out of the session while it was copied.', {
    hint: 'Nothing of the copy was kept. Try again.',
  });
}
