// Takes texts out of stored sessions. The words of a changed message are queued for the search index again.
import {
  type RedactionEnd,
  redactionNote,
  type SessionRedaction,
  type StoreRedactions,
} from '../session-redactions.ts';
import { recordNote } from './audit.ts';
import { fieldsOf } from './columns.ts';
import type { Ask } from './connection-pool.ts';
import { doWithOwnKey, type IdempotencyTools } from './idempotency.ts';
import { beginErasing, overwriteErased } from './purge.ts';
import { sweepSession, textSoFar } from './reply-parts.ts';
import type { RunCall } from './run-call.ts';
import { turnRuns } from './servers.ts';
import { changeTexts, ofProject } from './sessions.ts';
import { statement } from './statement.ts';

const session = statement(`
  SELECT session.id AS session, session.project,
    ${turnRuns} AS is_busy
  FROM parley.sessions AS session
  WHERE ${ofProject} AND session.session_id = $2 AND session.deleted_at IS NULL FOR UPDATE`);
// $1: the session. $2, $3, $4: ids, texts and new texts of its messages.
const given = `unnest($2::text[], $3::text[], $4::text[]) AS given (message_id, was, content)`;
const isGiven = `
  message.session = $1 AND message.message_id = given.message_id AND message.content = given.was`;
const messages = statement(`
  UPDATE parley.messages AS message SET content = given.content FROM ${given} WHERE ${isGiven}
  RETURNING message.position, octet_length(message.content) AS bytes`);
const hiddenMessages = statement(`
  UPDATE parley.hidden_messages AS message SET content = given.content FROM ${given} WHERE ${isGiven}
  RETURNING message.position`);
// The queue is written before the old words are deleted: a server that fills the index locks the rows of the queue until it has added its
// words.
const queue = statement(`
  INSERT INTO parley.to_index (project, session, position, bytes)
  SELECT $1, $2, * FROM unnest($3::integer[], $4::integer[])
  ON CONFLICT (project, session, position) DO UPDATE SET bytes = excluded.bytes`);
const words = statement(`DELETE FROM parley.search WHERE session = $1 AND position = ANY ($2::integer[])`);
// A key that an earlier version recorded names the position alone. A hash of a short text may be guessed, so the keys go.
const answers = statement(`
  DELETE FROM parley.idempotency AS known
  WHERE known.session = $2 AND (known.message_id = ANY ($4::text[])
      OR (known.message_id IS NULL AND known.position = ANY ($5::integer[])))
    OR (known.project = $1 AND EXISTS (
      SELECT 1 FROM jsonb_path_query(known.answer::jsonb, 'strict $.**.session_id', silent => true) AS part
      WHERE part #>> '{}' = $3))`);
const holders = statement(`
  WITH texts AS MATERIALIZED (SELECT * FROM unnest($1::text[]) AS texts (text))
  SELECT session_id FROM parley.sessions WHERE id IN (
    SELECT session FROM parley.messages AS message
      WHERE EXISTS (SELECT 1 FROM texts WHERE strpos(message.content, text) > 0)
    UNION SELECT session FROM parley.hidden_messages AS message
      WHERE EXISTS (SELECT 1 FROM texts WHERE strpos(message.content, text) > 0)
    UNION SELECT session FROM parley.reply_parts AS part
      WHERE EXISTS (SELECT 1 FROM texts WHERE strpos(${textSoFar('part.session', 'part.epoch')}, text) > 0)
    UNION SELECT id FROM parley.sessions AS session
      WHERE EXISTS (SELECT 1 FROM texts WHERE strpos(concat_ws(' ', title, system, parameters), text) > 0))
  ORDER BY session_id LIMIT $2`);

interface FoundSession {
  readonly session: number;
  readonly project: number;
  readonly is_busy: boolean;
}

interface Changed {
  readonly position: number;
  readonly bytes: number;
}

/** Ends a transaction in which nothing is to stay. */
class TextChanged extends Error {}

export function storeRedactions(tools: IdempotencyTools, run: RunCall): StoreRedactions {
  return {
    redact: (projectId, sessionId, redaction) =>
      run(async () => {
        try {
          return await doWithOwnKey(tools, projectId, (ask) =>
            redactIn(ask, projectId, sessionId, redaction),
          );
        } catch (error) {
          if (error instanceof TextChanged) return { kind: 'changed' };
          throw error;
        }
      }),
    overwrite: ({ rewrites }) => run(() => overwriteErased(tools.connections, rewrites)),
    holders: (texts, limit) =>
      run(async (ask) => {
        const rows = await ask<{ session_id: string }>(holders, [texts, limit]);
        return rows.map(({ session_id }) => session_id);
      }),
  };
}

async function redactIn(
  ask: Ask,
  projectId: string,
  sessionId: string,
  redaction: SessionRedaction,
): Promise<RedactionEnd> {
  const [place] = await ask<FoundSession>(session, [projectId, sessionId]);
  if (place === undefined) return { kind: 'not_found' };
  if (place.is_busy) return { kind: 'busy' };
  const ids = redaction.messages.map(({ message_id }) => message_id);
  const values = [place.session, ids, ...fieldsOf(redaction.messages, ['was', 'content'])];
  const visible = await ask<Changed>(messages, values);
  const hidden = await ask<Changed>(hiddenMessages, values);
  if (visible.length + hidden.length !== ids.length) throw new TextChanged();
  await ask(beginErasing, [null]);
  await ask(sweepSession, [place.session]);
  const positions = visible.map(({ position }) => position);
  const bytes = visible.map((one) => one.bytes);
  await ask(queue, [place.project, place.session, positions, bytes]);
  await ask(words, [place.session, positions]);
  await ask(answers, [place.project, place.session, sessionId, ids, positions]);
  await changeTexts(ask, projectId, sessionId, redaction.changes);
  if (redaction.by !== undefined) await recordNote(ask, redactionNote(redaction.by, projectId, sessionId));
  return { kind: 'redacted' };
}
