// Fills a store by SQL, with rows like those of the program. The schema and its project exist already.

const began = Date.parse('2024-01-01T00:00:00Z');
/** Sessions per statement. */
const atOnce = 20_000;
/** Words that occur in this many messages, however large the store is; `everywhere` occurs in all. */
export const hitCounts = [10, 100, 1000];
export const vocabulary = 20_000;
const wordsOfMessage = 25;

export const sessionId = (number) => `ses_${String(number).padStart(26, '0')}`;

const idOf = (number) => `'ses_' || lpad((${number})::text, 26, '0')`;

/** Adds sessions with the numbers from `from` on, with this many messages each, which are in no index of words. */
export async function addSessions({ rows }, schema, { project, from = 0, count, messages }) {
  await rows(`
    INSERT INTO ${schema}.sessions (project, session_id, title, created_at, updated_at, message_count)
    SELECT ${project}, ${idOf('number')}, 'session ' || number, ${began} + number, ${began} + number, ${messages}
    FROM generate_series(${from}, ${from + count - 1}) AS number`);
  if (messages === 0) return;
  await rows(`
    INSERT INTO ${schema}.messages (session, position, message_id, role, content, mode, finish_reason, created_at)
    ${messagesOf(schema, project, from, count, String(messages), `'What was said here at that time, in ' || position || ' of the usual lengths of a message.'`)}`);
}

/** The columns of messages; `text` is SQL over `number` of the session, `position`. */
function messagesOf(schema, project, from, count, messages, text) {
  return `
    SELECT session.id, position, 'msg_' || lpad((number * 10 + position)::text, 26, '0'),
      CASE position % 2 WHEN 0 THEN 'user' ELSE 'assistant' END, ${text}, 'test',
      CASE position % 2 WHEN 0 THEN NULL ELSE 'stop' END, session.created_at
    FROM generate_series(${from}, ${from + count - 1}) AS number
    JOIN ${schema}.sessions AS session ON session.project = ${project} AND session.session_id = ${idOf('number')}
    CROSS JOIN LATERAL generate_series(0, ${messages} - 1) AS position`;
}

/**
 * Fills a store with sessions of four or six messages, five on average, all in the index of words. The words of a message come from a
 * vocabulary in which some are frequent: the most frequent word is in a sixth of all messages. `say` gets the progress.
 */
export async function fillStore({ rows }, schema, { project, sessions, say }) {
  await rows('SET synchronous_commit = off');
  const [{ indexdef }] = await rows(
    'SELECT indexdef FROM pg_indexes WHERE schemaname = $1 AND indexname = $2',
    [schema, 'search_by_words'],
  );
  await rows(`DROP INDEX ${schema}.search_by_words`);
  await rows('SELECT setseed(0.5)');
  for (let from = 0; from < sessions; from += atOnce) {
    const count = Math.min(atOnce, sessions - from);
    const messages = '(4 + number % 2 * 2)';
    await rows(`
      INSERT INTO ${schema}.sessions (project, session_id, title, created_at, updated_at, message_count)
      SELECT ${project}, ${idOf('number')}, 'session ' || number, ${began} + number, ${began} + number, ${messages}
      FROM generate_series(${from}, ${from + count - 1}) AS number`);
    await rows(`
      WITH added AS (
        INSERT INTO ${schema}.messages (session, position, message_id, role, content, mode, finish_reason, created_at)
        ${messagesOf(schema, project, from, count, messages, textOf(sessions))}
        RETURNING session, position, created_at, content
      )
      INSERT INTO ${schema}.search (session, position, created_at, bytes, words)
      SELECT session, position, created_at, octet_length(content),
        ('''${project}:w' || replace(content, ' ', ''' ''${project}:w') || '''')::tsvector
      FROM added ORDER BY session, position`);
    say(`${from + count} of ${sessions} sessions`);
  }
  say('the index of words');
  await rows(indexdef);
  await rows('SET synchronous_commit = on');
  for (const table of ['sessions', 'messages', 'search', 'to_index'])
    await rows(`VACUUM (ANALYZE) ${schema}.${table}`);
  await rows('CHECKPOINT');
}

/** Words separated by one space, so that the index can be built from the text. */
function textOf(sessions) {
  const rare = hitCounts.map((hits) => {
    const every = sessions / hits;
    return `CASE WHEN position = 0 AND number % ${every} = ${every - 1} THEN ' hits${hits}' ELSE '' END`;
  });
  const words = `(
    SELECT string_agg('w' || floor(${vocabulary} * random() ^ 3), ' ')
    FROM generate_series(1, ${wordsOfMessage}) WHERE number + position >= 0)`;
  return `'everywhere ' || ${words} || ${rare.join(' || ')}`;
}
