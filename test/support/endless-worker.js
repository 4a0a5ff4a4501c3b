// A process of a served store whose searches for "endless" never end: SQLite runs one statement, and nothing interrupts it. Every other
// search finds nothing, at once.
import Database from 'better-sqlite3';

const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';

process.on('message', ({ filter }) => {
  if (filter?.terms[0].text === 'endless') new Database(':memory:').prepare(endless).get();
  process.send({ value: filter ? { items: [], next_cursor: null, newest_only: false } : null });
});

process.send('ready');
