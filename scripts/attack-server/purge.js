// The data for measuring a purge beside a server: 20,000 deleted sessions with two messages, added to the tables and indexes without the API.
import { join } from 'node:path';
import Database from 'better-sqlite3';

export const purgedSessions = 20_000;

export function addDeletedSessions(place) {
  const database = new Database(join(place, 'parley.db'), { timeout: 5000 });
  const numbers = `WITH numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${purgedSessions})`;
  const words = `printf('w%d ', abs(random()) % 50000)`;
  try {
    database.exec(`
      BEGIN IMMEDIATE;
      INSERT INTO sessions (session_id, project, created_at, updated_at, deleted_at, message_count)
        ${numbers} SELECT 'ses_purged_' || n, id, 1, 1, 1, 2 FROM numbers JOIN projects WHERE project_id = (
          SELECT project_id FROM projects WHERE name = 'attacker');
      INSERT INTO messages (session, position, message_id, role, mode, finish_reason, created_at, content)
        SELECT id, position, 'msg_' || position, iif(position, 'assistant', 'user'), 'echo',
          iif(position, 'stop', NULL), 1, ${Array(60).fill(words).join(' || ')}
        FROM sessions JOIN (SELECT 0 AS position UNION ALL SELECT 1) WHERE session_id GLOB 'ses_purged_*';
      COMMIT;`);
    const { first, last } = database
      .prepare('SELECT min(message) AS first, max(message) AS last FROM search_waiting')
      .get();
    const index = database.prepare(`
      INSERT INTO message_words (rowid, content, owner)
      SELECT id, content, owner FROM message_words_source WHERE id BETWEEN @from AND @to`);
    const indexed = database.prepare('DELETE FROM search_waiting WHERE message BETWEEN @from AND @to');
    for (let from = first; from <= last; from += 2000) {
      database.transaction(() => {
        // The view excludes waiting messages.
        indexed.run({ from, to: from + 1999 });
        index.run({ from, to: from + 1999 });
      })();
    }
  } finally {
    database.close();
  }
}
