// The statements that copy a store.
import { headColumns as namesOfHead, pageLimits } from '../store-rows.ts';
import { messageArrays, movedColumns } from './message-columns.ts';
import { projectNumber, settingsBytes } from './sessions.ts';
import { statement } from './statement.ts';

const headColumns = namesOfHead.join(', ');
// Settings without room on the page are not sent.
const heads = (comparison: '>' | '>=') =>
  statement(`
    SELECT id, ${headColumns} FROM (
      SELECT session.*, sum(${settingsBytes}) OVER (ORDER BY session_id) - ${settingsBytes} AS bytes
      FROM parley.sessions AS session WHERE project = ${projectNumber} AND session_id ${comparison} $2
      ORDER BY session_id LIMIT $3
    ) AS head WHERE bytes <= ${pageLimits.textBytes} ORDER BY session_id`);
const ofTable = (table: string, hidden: string) => `
  (SELECT ${movedColumns}, ${hidden} FROM parley.${table} AS kept WHERE kept.session = input.session
    AND kept.position >= CASE WHEN input.place = 1 THEN $2::integer ELSE 0 END
    AND (input.place > 1 OR kept.position > $2 OR kept.message_id >= $3)
  ORDER BY kept.position, kept.message_id LIMIT ${pageLimits.messages + 1})`;

export const rowStatements = {
  projects: statement('SELECT project_id, name, created_at FROM parley.projects ORDER BY project_id'),
  keys: statement(`
    SELECT api_keys.key_id, api_keys.name, api_keys.hash, projects.project_id, api_keys.created_at, api_keys.revoked_at,
      scope, expires_at, turns_per_day, tokens_per_day
    FROM parley.api_keys JOIN parley.projects ON projects.id = api_keys.project ORDER BY api_keys.key_id`),
  count: statement(`
    SELECT count(*) AS sessions, coalesce(sum(message_count), 0) + (
      SELECT count(*) FROM parley.hidden_messages JOIN parley.sessions AS own ON own.id = hidden_messages.session
      WHERE own.project = ${projectNumber}) AS messages
    FROM parley.sessions WHERE project = ${projectNumber}`),
  headsAfter: heads('>'),
  headsFrom: heads('>='),
  // $1: the row numbers of sessions. $2 and $3: position and id of the first message to read in the first session. A text without room on
  // the page is not sent.
  messages: statement(`
    SELECT place, position, message_id, role, mode, finish_reason, input_tokens, output_tokens, first_token_ms,
      error_code, created_at, copied AS is_copy, alternative_of, undone_at,
      CASE WHEN before < ${pageLimits.textBytes} THEN content END AS content
    FROM (
      SELECT input.place, message.*,
        sum(octet_length(message.content)) OVER (ORDER BY input.place, message.position, message.message_id)
          - octet_length(message.content) AS before
      FROM unnest($1::bigint[]) WITH ORDINALITY AS input (session, place)
      CROSS JOIN LATERAL (
        ${ofTable('messages', 'NULL::text AS alternative_of, NULL::bigint AS undone_at')}
        UNION ALL ${ofTable('hidden_messages', 'alternative_of, undone_at')}
      ) AS message
      ORDER BY input.place, message.position, message.message_id LIMIT ${pageLimits.messages + 1}
    ) AS page ORDER BY place, position, message_id`),
  // A key that names the position alone means the visible message there.
  idempotency: statement(`
    SELECT known.key, known.request_hash, session.session_id, known.position,
      coalesce(known.message_id, asked.message_id) AS message_id, known.reply_id, known.answer,
      floor(extract(epoch FROM clock_timestamp() - known.created_at) * 1000)::bigint AS age_ms
    FROM parley.idempotency AS known LEFT JOIN parley.sessions AS session ON session.id = known.session
    LEFT JOIN parley.messages AS asked ON asked.session = known.session AND asked.position = known.position
    WHERE known.project = ${projectNumber} AND known.key > $2 ORDER BY known.key LIMIT 1000`),

  addProjects: statement(`
    INSERT INTO parley.projects (project_id, name, created_at)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) ON CONFLICT (project_id) DO NOTHING`),
  addKeys: statement(`
    INSERT INTO parley.api_keys (key_id, name, hash, project, created_at, revoked_at, scope, expires_at, turns_per_day,
      tokens_per_day)
    SELECT input.key_id, input.name, input.hash, projects.id, input.created_at, input.revoked_at, input.scope,
      input.expires_at, input.turns_per_day, input.tokens_per_day
    FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::bigint[],
      $9::bigint[], $10::bigint[])
      AS input (key_id, name, hash, project_id, created_at, revoked_at, scope, expires_at, turns_per_day, tokens_per_day)
    JOIN parley.projects USING (project_id) ON CONFLICT (key_id) DO NOTHING`),
  // A page is one statement, and so one round trip and one commit. A session that is stored already, for example by an earlier sending of
  // this statement, is updated without a change, because RETURNING gives only written rows. An open turn has no running owner: the next
  // chat closes it, as after a server that was killed.
  addParts: statement(`
    WITH kept AS (
      INSERT INTO parley.sessions AS session (project, turn_owner, turn_until, ${headColumns})
      SELECT ${projectNumber}, CASE WHEN input.turn_position IS NOT NULL THEN 'copy' END,
        CASE WHEN input.turn_position IS NOT NULL THEN '-infinity'::timestamptz END, input.*
      FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::integer[], $7::bigint[], $8::integer[],
        $9::integer[], $10::integer[], $11::text[], $12::text[], $13::integer[], $14::text[], $15::text[],
        $16::boolean[], $17::boolean[], $18::text[], $19::text[])
        AS input (${headColumns})
      ON CONFLICT (project, session_id) DO UPDATE SET session_id = excluded.session_id
      RETURNING session.id AS session, session.session_id, session.project, session.tags
    ), tagged AS (
      INSERT INTO parley.session_tags (session, tag, project)
      SELECT kept.session, given.tag, kept.project
      FROM kept CROSS JOIN LATERAL jsonb_array_elements_text(kept.tags::jsonb) AS given (tag)
      ON CONFLICT DO NOTHING
    ), given AS (
      SELECT kept.session, input.*
      FROM unnest($20::integer[], ${messageArrays(21)})
        AS input (place, ${movedColumns}, alternative_of, undone_at)
      JOIN unnest($2::text[]) WITH ORDINALITY AS named (session_id, place) USING (place)
      JOIN kept USING (session_id)
    ), hidden AS (
      INSERT INTO parley.hidden_messages (session, ${movedColumns}, alternative_of, undone_at)
      SELECT session, ${movedColumns}, alternative_of, undone_at FROM given
      WHERE alternative_of IS NOT NULL OR undone_at IS NOT NULL
      ON CONFLICT DO NOTHING
    ), added AS (
      INSERT INTO parley.messages (session, ${movedColumns})
      SELECT session, ${movedColumns} FROM given WHERE alternative_of IS NULL AND undone_at IS NULL
      ON CONFLICT (session, position) DO NOTHING
      RETURNING session, position, octet_length(content) AS bytes
    )
    INSERT INTO parley.to_index (project, session, position, bytes)
    SELECT ${projectNumber}, session, position, bytes FROM added WHERE bytes > 0`),
  addIdempotency: statement(`
    INSERT INTO parley.idempotency (project, key, request_hash, session, position, message_id, reply_id, answer,
      created_at)
    SELECT ${projectNumber}, input.key, input.request_hash, session.id, input.position, input.message_id, input.reply_id,
      input.answer,
      clock_timestamp() - input.age_ms * interval '1 millisecond'
    FROM unnest($2::text[], $3::bytea[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::text[], $9::bigint[])
      AS input (key, request_hash, session_id, position, message_id, reply_id, answer, age_ms)
    LEFT JOIN parley.sessions AS session
      ON session.project = ${projectNumber} AND session.session_id = input.session_id
    WHERE (session.id IS NULL) <> (input.answer IS NULL)
    ON CONFLICT (project, key) DO NOTHING`),
  remove: statement(`
    WITH gone AS MATERIALIZED (
      SELECT id, project FROM parley.sessions WHERE project = ${projectNumber} AND session_id = ANY($2::text[])
    ), known AS (
      DELETE FROM parley.idempotency USING gone WHERE idempotency.session = gone.id
    ), queued AS (
      DELETE FROM parley.to_index USING gone WHERE to_index.project = gone.project AND to_index.session = gone.id
    ), words AS (
      DELETE FROM parley.search USING gone WHERE search.session = gone.id
    ), texts AS (
      DELETE FROM parley.messages AS message USING gone WHERE message.session = gone.id
    ), hidden AS (
      DELETE FROM parley.hidden_messages AS message USING gone WHERE message.session = gone.id
    )
    DELETE FROM parley.sessions AS session USING gone WHERE session.id = gone.id`),
  note: statement(`SELECT value FROM parley.meta WHERE name = 'copy'`),
  setNote: statement(`
    INSERT INTO parley.meta (name, value) VALUES ('copy', $1)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`),
} as const;
