// Turns in a large store while its index of words is filled.
import { turns } from './callers.js';
import { line } from './report.js';

const callersWhileIndexing = 8;
const backlog = 20_000;

/** The 99th percentile of turns while the index is filled, and while it cannot be, because its table, which turns do not use, is locked. */
export async function measureIndexing(load, { url, key, ids, schema }, { database, rounds, say }) {
  const row = line('p99 of turns while the index is filled', { unit: 'ms', floor: 'without', max: 1.1 });
  // No server indexes what an earlier run has left, until a turn is stored.
  await database.rows(`DELETE FROM ${schema}.to_index`);
  const leg = () => load.run([url], turns(key, ids), { connections: callersWhileIndexing });
  for (let round = -1; round < rounds; round += 1) {
    await emptied(database, schema);
    await database.rows('BEGIN');
    await database.rows(`LOCK TABLE ${schema}.search IN EXCLUSIVE MODE`);
    const without = await leg();
    await database.rows('ROLLBACK');
    await emptied(database, schema);
    await database.rows(`
      INSERT INTO ${schema}.to_index (project, session, position, bytes)
      SELECT sessions.project, message.session, message.position, octet_length(message.content)
      FROM ${schema}.messages AS message JOIN ${schema}.sessions ON sessions.id = message.session
      ORDER BY message.session, message.position LIMIT ${backlog} ON CONFLICT DO NOTHING`);
    const within = await leg();
    say(`turns and the index, round ${round + 1} of ${rounds}`);
    if (round >= 0) row.compare(within.almostAll, without.almostAll);
  }
  return [row.row()];
}

/** Resolves when too few messages are queued for the index to continue. */
async function emptied({ rows }, schema) {
  for (;;) {
    const [{ queued }] = await rows(`SELECT count(*) AS queued FROM ${schema}.to_index`);
    if (Number(queued) < 512) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await rows(`DELETE FROM ${schema}.to_index`);
}
