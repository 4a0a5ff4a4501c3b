// Takes texts out of stored sessions, and then out of the files. The triggers of the search index follow each change of a text.
import {
  type RedactionEnd,
  redactionNote,
  type SessionRedaction,
  type StoreRedactions,
} from '../session-redactions.ts';
import type { Clocks } from './age-clock.ts';
import type { SqliteAudit } from './audit.ts';
import type { Connection } from './connection.ts';
import { turnRuns } from './lease-clock.ts';
import { overwriteErased } from './purge.ts';
import { purgeStatements } from './purge-rows.ts';
import { changeTexts, thisSession } from './sessions.ts';
import type { StoreAccess } from './store-access.ts';

const ofSession = (table: string) =>
  `${table} WHERE session = @session AND message_id = @message_id AND content = @was`;

const redactionStatements = {
  session: `
    SELECT id AS session, project, ${turnRuns} AS is_busy
    FROM sessions WHERE ${thisSession} AND deleted_at IS NULL`,
  isThere: `SELECT 1 FROM ${ofSession('messages')} UNION ALL SELECT 1 FROM ${ofSession('hidden_messages')}`,
  // The keys refer to the messages. A hash of a short text may be guessed, so the keys go.
  turns: `
    DELETE FROM idempotency WHERE message IN (SELECT id FROM ${ofSession('messages')})
      OR hidden_message IN (SELECT id FROM ${ofSession('hidden_messages')})`,
  answers: `
    DELETE FROM idempotency WHERE project = @project AND answer IS NOT NULL AND EXISTS (
      SELECT 1 FROM json_tree(answer) AS part WHERE part.key = 'session_id' AND part.value = @sessionId)`,
  message: `UPDATE messages SET content = @content WHERE id IN (SELECT id FROM ${ofSession('messages')})`,
  hiddenMessage: `
    UPDATE hidden_messages SET content = @content WHERE id IN (SELECT id FROM ${ofSession('hidden_messages')})`,
  // A fork that is copied meanwhile compares the count (forks.ts).
  count: `
    INSERT INTO meta (name, value) VALUES ('redactions', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1`,
  holders: `
    WITH texts AS MATERIALIZED (SELECT value AS text FROM json_each(@texts))
    SELECT session_id FROM sessions WHERE id IN (
      SELECT session FROM messages WHERE EXISTS (SELECT 1 FROM texts WHERE instr(content, text))
      UNION SELECT session FROM hidden_messages WHERE EXISTS (SELECT 1 FROM texts WHERE instr(content, text))
      UNION SELECT session FROM (
        SELECT session, group_concat(content, '') AS content FROM reply_parts GROUP BY session, epoch
      ) WHERE EXISTS (SELECT 1 FROM texts WHERE instr(content, text))
      UNION SELECT id FROM sessions WHERE EXISTS (
        SELECT 1 FROM texts WHERE instr(title, text) OR instr(system, text) OR instr(parameters, text)))
    ORDER BY session_id LIMIT @limit`,
} as const;

interface FoundSession {
  readonly session: number;
  readonly project: number;
  readonly is_busy: number;
}

interface NamedRedaction extends SessionRedaction {
  readonly projectId: string;
  readonly sessionId: string;
}

export function storeRedactions(
  access: StoreAccess,
  audit: SqliteAudit,
  clocks: () => Clocks,
): StoreRedactions {
  return {
    redact: (projectId, sessionId, redaction) =>
      access.write(projectId, (connection) => {
        const bindings = { projectId, sessionId, clock: clocks().clock };
        const place = connection.get<FoundSession>(redactionStatements.session, bindings);
        if (place === undefined) return { kind: 'not_found' };
        if (place.is_busy) return { kind: 'busy' };
        const end = redactIn(connection, place, { projectId, sessionId, ...redaction });
        if (end.kind === 'redacted' && redaction.by !== undefined)
          audit.add(connection, redactionNote(redaction.by, projectId, sessionId));
        return end;
      }),
    overwrite: () => access.run(() => overwriteErased(access)),
    holders: (texts, limit) => {
      const bindings = { texts: JSON.stringify(texts), limit };
      return access.read((connection) =>
        connection
          .all<{ session_id: string }>(redactionStatements.holders, bindings)
          .map(({ session_id }) => session_id),
      );
    },
  };
}

/** Everything is looked at before anything is changed, so nothing needs to be undone. */
function redactIn(
  connection: Connection,
  { session, project }: FoundSession,
  { projectId, sessionId, messages, changes }: NamedRedaction,
): RedactionEnd {
  const { isThere, turns, answers, message, hiddenMessage } = redactionStatements;
  const placed = messages.map(({ message_id, was, content }) => ({ session, message_id, was, content }));
  for (const { content: _, ...one } of placed) {
    if (connection.get(isThere, one) === undefined) return { kind: 'changed' };
  }
  connection.run(purgeStatements.begin);
  connection.run(redactionStatements.count);
  connection.run(answers, { project, sessionId });
  for (const { content, ...one } of placed) {
    connection.run(turns, one);
    connection.run(message, { ...one, content });
    connection.run(hiddenMessage, { ...one, content });
  }
  changeTexts(connection, projectId, sessionId, changes);
  return { kind: 'redacted' };
}
