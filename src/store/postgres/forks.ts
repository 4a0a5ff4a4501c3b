// Copies a session into a new one: the session and all its messages in one statement, which sees one moment of the parent.
import { type SessionRow, toSession } from '../rows.ts';
import type { Fork, ForkEnd } from '../session-store.ts';
import type { TurnRules } from '../store-rules.ts';
import type { Ask } from './connection-pool.ts';
import { ofProject, sessionColumns, sessionFields } from './sessions.ts';
import { statement } from './statement.ts';

// A redaction that runs is over when this has its lock, and later ones wait for the fork. The turns of the parent do not wait.
const parentCount = statement(`
  SELECT session.message_count FROM parley.sessions AS session
  WHERE ${ofProject} AND session.session_id = $2 AND session.deleted_at IS NULL FOR KEY SHARE`);

// $3: the id of the fork. $4: the position of the last message to copy. $5: true if the fork has the title $6, otherwise that of the
// parent. $7: what the ids of the copies begin with. $8: now. If the fork is there already, this statement was sent before.
const fork = statement(`
  WITH parent AS (
    SELECT session.id, session.project, ${sessionColumns} FROM parley.sessions AS session
    WHERE ${ofProject} AND session.session_id = $2 AND session.deleted_at IS NULL AND session.message_count > $4::integer
  ), made AS (
    INSERT INTO parley.sessions AS session (project, session_id, title, created_at, updated_at, message_count, mode,
      parameters, system, parent_id, forked_at, user_id)
    SELECT project, $3, CASE WHEN $5 THEN $6 ELSE title END, $8::bigint, greatest($8::bigint, updated_at), $4::integer + 1,
      mode, parameters, system, session_id, $4::integer, user_id
    FROM parent
    ON CONFLICT (project, session_id) DO NOTHING
    RETURNING ${sessionColumns}, session.id, session.project
  ), copies AS (
    INSERT INTO parley.messages (session, position, message_id, role, mode, finish_reason, input_tokens, output_tokens,
      error_code, created_at, content, copied)
    SELECT made.id, message.position, $7 || '_' || message.position
        || CASE WHEN strpos(message.message_id, '/') = 0 THEN '' ELSE '/copy' END, message.role, message.mode,
      message.finish_reason, message.input_tokens, message.output_tokens, message.error_code, message.created_at,
      message.content, true
    FROM made CROSS JOIN parent JOIN parley.messages AS message ON message.session = parent.id
    WHERE message.position <= $4
    RETURNING session, position, octet_length(content) AS bytes
  ), queued AS (
    INSERT INTO parley.to_index (project, session, position, bytes)
    SELECT made.project, copies.session, copies.position, copies.bytes
    FROM copies JOIN made ON made.id = copies.session WHERE copies.bytes > 0
  )
  SELECT ${sessionFields} FROM made
  UNION ALL
  SELECT ${sessionColumns} FROM parley.sessions AS session
  WHERE ${ofProject} AND session.session_id = $3 AND session.parent_id = $2`);

/** `ask` is of a transaction. */
export async function forkSession(
  ask: Ask,
  rules: TurnRules,
  projectId: string,
  { session_id, newSession, copy_id_prefix, through, now }: Fork,
): Promise<ForkEnd> {
  for (;;) {
    const [parent] = await ask<{ message_count: number }>(parentCount, [projectId, session_id]);
    if (parent === undefined) return { kind: 'not_found' };
    const { message_count } = parent;
    const last = rules.forkThrough(message_count, through);
    if (last === null) return { kind: 'no_reply', last: rules.forkThrough(message_count, null) };
    const { title } = newSession;
    const values = [
      ...[projectId, session_id, newSession.session_id, last, title !== undefined, title ?? null],
      ...[copy_id_prefix, now],
    ];
    // No row comes back if the last turn was undone, or the session deleted, meanwhile.
    const [row] = await ask<SessionRow>(fork, values);
    if (row !== undefined) return { kind: 'done', value: toSession(row) };
  }
}
