// The scripts of pgbench for the floors: the same rows in the same tables, in another schema, each statement as a program would send it.
import { question, title } from './callers.js';

const schema = 'bench_floor';
const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
/** Ordered by time, as Parley's ids are. */
const newId = (kind) =>
  `'${kind}_' || lpad(to_hex(${now}), 10, '0') || lpad(to_hex(:random::bigint), 16, '0')`;

/** The row of a new session. No key is checked. */
export const insertSession = `
\\set random random(1, 4611686018427387904)
INSERT INTO ${schema}.sessions (project, session_id, title, created_at, updated_at) VALUES (:project, ${newId('ses')}, '${title}', ${now}, ${now});
`;

const insertMessage = (role, position, reason) => `
INSERT INTO ${schema}.messages (session, position, message_id, role, content, mode, finish_reason, created_at)
  VALUES (:id, ${position}, ${newId('msg')}, '${role}', '${question}', 'test', ${reason}, ${now});
INSERT INTO ${schema}.to_index (project, session, position, bytes) VALUES (:project, :id, ${position}, ${question.length});`;

/**
 * A whole turn: the key, a transaction that begins the turn and stores the message, the last 20 messages, and a transaction that stores the reply
 * and ends the turn. No two clients use one session. \`sessions\`: how many there are, a multiple of 32.
 */
export const wholeTurn = (sessions) => `
\\set random random(1, 4611686018427387904)
\\set number :client_id + 32 * random(0, ${sessions / 32 - 1})
SELECT projects.id FROM ${schema}.api_keys JOIN ${schema}.projects ON projects.id = api_keys.project
  WHERE api_keys.hash = decode(:hash, 'hex') AND api_keys.revoked_at IS NULL;
BEGIN;
UPDATE ${schema}.sessions SET message_count = message_count + 1, updated_at = ${now}, turn_owner = 'pgbench',
  turn_until = clock_timestamp() + interval '15 s', turn_position = message_count, turn_epoch = turn_epoch + 1
  WHERE project = :project AND session_id = 'ses_' || lpad(:number::text, 26, '0') AND deleted_at IS NULL
    AND turn_owner IS NULL RETURNING id, turn_position AS place \\gset
${insertMessage('user', ':place', 'NULL')}
COMMIT;
SELECT message_id, position, role, content, mode, finish_reason, input_tokens, output_tokens, error_code, created_at
  FROM ${schema}.messages WHERE session = :id AND position < :place ORDER BY position DESC LIMIT 20;
\\set random random(1, 4611686018427387904)
BEGIN;
${insertMessage('assistant', ':place + 1', "'stop'")}
UPDATE ${schema}.sessions SET message_count = :place + 2, updated_at = ${now}, turn_owner = NULL, turn_until = NULL,
  turn_position = NULL WHERE id = :id AND turn_owner = 'pgbench' AND turn_position = :place;
COMMIT;
`;
