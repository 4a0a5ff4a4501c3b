// The statements that copy a store. Project 0 holds the sessions that staged-session.ts hides. They belong to no project yet and are not
// copied.
import { headColumns as namesOfHead } from '../store-rows.ts';
import { projectNumber } from './sessions.ts';

const messageColumns = `message_id, position, role, content, mode, finish_reason, input_tokens, output_tokens,
  first_token_ms, error_code, created_at, copied`;
/** The session, then the columns above. */
const messageValues = '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?';
const headColumns = namesOfHead.join(', ');
const heads = (comparison: '>' | '>=') => `
  SELECT id, ${headColumns}
  FROM sessions WHERE project = ${projectNumber} AND session_id ${comparison} @place
  ORDER BY session_id LIMIT @limit`;
const keysWith = (limits: string) => `
  SELECT api_keys.key_id, api_keys.name, api_keys.hash, projects.project_id, api_keys.created_at, api_keys.revoked_at, ${limits}
  FROM api_keys JOIN projects ON projects.id = api_keys.project ORDER BY api_keys.key_id`;

export const rowStatements = {
  projects: 'SELECT project_id, name, created_at FROM projects WHERE id <> 0 ORDER BY project_id',
  keys: keysWith('scope, expires_at, turns_per_day, tokens_per_day'),
  /** The keys of a store with a schema before 13. */
  keysWithoutLimits: keysWith(
    'NULL AS scope, NULL AS expires_at, NULL AS turns_per_day, NULL AS tokens_per_day',
  ),
  count: `
    SELECT count(*) AS sessions, coalesce(sum(message_count), 0) + (
      SELECT count(*) FROM hidden_messages JOIN sessions AS parent ON parent.id = hidden_messages.session
      WHERE parent.project = ${projectNumber}) AS messages
    FROM sessions WHERE project = ${projectNumber}`,
  headsAfter: heads('>'),
  headsFrom: heads('>='),
  messages: `
    SELECT ${messageColumns}, NULL AS alternative_of, NULL AS undone_at FROM messages
    WHERE session = @session AND position >= @position AND (position > @position OR message_id >= @message_id)
    UNION ALL
    SELECT ${messageColumns}, alternative_of, undone_at FROM hidden_messages
    WHERE session = @session AND (position, message_id) >= (@position, @message_id)
    ORDER BY position, message_id`,
  idempotency: `
    SELECT known.key, known.request_hash, sessions.session_id, coalesce(message.position, hidden.position) AS position,
      coalesce(message.message_id, hidden.message_id) AS message_id, known.reply_id, known.answer,
      @now - known.created_at AS age_ms
    FROM idempotency AS known LEFT JOIN messages AS message ON message.id = known.message
    LEFT JOIN hidden_messages AS hidden ON hidden.id = known.hidden_message
    LEFT JOIN sessions ON sessions.id = coalesce(message.session, hidden.session)
    WHERE known.project = ${projectNumber} AND known.key > @after ORDER BY known.key LIMIT 1000`,
  find: `SELECT id FROM sessions WHERE project = ${projectNumber} AND session_id = @session_id`,

  addProject: `
    INSERT INTO projects (project_id, name, created_at) VALUES (@project_id, @name, @created_at)
    ON CONFLICT (project_id) DO NOTHING`,
  addKey: `
    INSERT INTO api_keys (key_id, name, hash, project, created_at, revoked_at, scope, expires_at, turns_per_day,
      tokens_per_day)
    VALUES (@key_id, @name, @hash, (SELECT id FROM projects WHERE project_id = @project_id), @created_at, @revoked_at,
      @scope, @expires_at, @turns_per_day, @tokens_per_day)
    ON CONFLICT (key_id) DO NOTHING`,
  // An open turn is stored as a turn that no process runs. The next chat closes it, as it closes the turn of a killed process.
  addSession: `
    INSERT INTO sessions (project, ${headColumns}, turn_owner, turn_until)
    VALUES ((SELECT id FROM projects WHERE project_id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (project, session_id) DO NOTHING`,
  addMessage: `
    INSERT INTO messages (session, ${messageColumns}) VALUES (${messageValues})
    ON CONFLICT (session, position) DO NOTHING`,
  addHiddenMessage: `
    INSERT INTO hidden_messages (session, ${messageColumns}, alternative_of, undone_at)
    VALUES (${messageValues}, ?, ?)
    ON CONFLICT (session, position, message_id) DO NOTHING`,
  addIdempotency: `
    INSERT INTO idempotency (project, key, request_hash, message, hidden_message, reply_id, answer, created_at)
    SELECT ${projectNumber}, @key, @request_hash, message.id, hidden.id, @reply_id, @answer, @created_at
    FROM (SELECT 1) LEFT JOIN sessions ON sessions.project = ${projectNumber} AND sessions.session_id = @session_id
    LEFT JOIN messages AS message
      ON message.session = sessions.id AND message.position = @position AND message.message_id = @message_id
    LEFT JOIN hidden_messages AS hidden
      ON hidden.session = sessions.id AND hidden.position = @position AND hidden.message_id = @message_id
    WHERE (message.id IS NOT NULL) + (hidden.id IS NOT NULL) + (@answer IS NOT NULL) = 1
    ON CONFLICT (project, key) DO NOTHING`,
  remove: [
    'DELETE FROM idempotency WHERE message IN (SELECT id FROM messages WHERE session = @session)',
    'DELETE FROM idempotency WHERE hidden_message IN (SELECT id FROM hidden_messages WHERE session = @session)',
    'DELETE FROM hidden_messages WHERE session = @session',
    'DELETE FROM messages WHERE session = @session',
    'DELETE FROM sessions WHERE id = @session',
  ],
  note: `SELECT value FROM meta WHERE name = 'copy'`,
  setNote: `INSERT INTO meta (name, value) VALUES ('copy', @note) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
} as const;
