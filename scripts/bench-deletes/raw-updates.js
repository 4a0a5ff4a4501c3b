// The floor of embedded deletions: better-sqlite3 alone, equally durable, with the same updates in transactions of 1,000, and a line for each
// id. Ids come from stdin. Prints the milliseconds since its start on stderr.
import { readFileSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';

const start = performance.now();
const ids = readFileSync(0, 'utf8').split('\n').slice(0, -1);
const database = new Database(process.argv[2]);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
const update = database.prepare(
  'UPDATE sessions SET deleted_at = ? WHERE project = 1 AND session_id = ? AND deleted_at IS NULL',
);
for (let from = 0; from < ids.length; from += 1000) {
  const lines = [];
  database.transaction(() => {
    for (const id of ids.slice(from, from + 1000)) {
      const { changes } = update.run(Date.now(), id);
      lines.push(`${changes === 1 ? 'deleted' : 'not_found'} ${id}\n`);
    }
  })();
  writeSync(1, lines.join(''));
}
database.close();
process.stderr.write(String(performance.now() - start));
