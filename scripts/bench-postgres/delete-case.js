// Deletes many sessions through `parley serve`, with a result for each, as `parley sessions delete` does.

import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { serveParley } from '../served-place.js';
import { addSessions, sessionId } from './filled-store.js';
import { defaultEnvironment, newStore, parley } from './places.js';
import { line } from './report.js';

const count = 100_000;
const idsOfBatch = 1000;

export async function measureDeletes({ database, home, children, rounds, say }) {
  const { env, key, project } = await newStore(database, 'bench_deletes', defaultEnvironment(home));
  const { url } = await serveParley(env, children);
  await addSessions(database, 'bench_deletes', { project, count, messages: 0 });
  const client = join(home, 'client');
  mkdirSync(client);
  const remote = { ...defaultEnvironment(client), PARLEY_URL: url, PARLEY_API_KEY: key };
  const ids = join(client, 'ids');
  writeFileSync(ids, Array.from({ length: count }, (_, number) => `${sessionId(number)}\n`).join(''));
  const deletes = line(`${count} served deletes, a second`, {
    unit: 'ms',
    floor: 'updates alone',
    min: 45_000,
  });
  for (let round = -1; round < rounds; round += 1) {
    await renewed(database);
    const alone = await updatesAlone(database, project);
    await renewed(database);
    // The start of node and of Parley is subtracted: only deleting counts.
    const nothing = ['sessions', 'delete', 'ses_of_nobody', '--ignore-missing'];
    const { milliseconds: start } = timed(nothing, '/dev/null', remote, client);
    const { milliseconds, output } = timed(['sessions', 'delete', '-', '--yes'], ids, remote, client);
    const deleted = output.split('\n').filter((text) => text.startsWith('deleted ')).length;
    if (deleted !== count) throw new Error(`${deleted} of ${count} were deleted.`);
    say(`deletes, round ${round + 1} of ${rounds}`);
    if (round >= 0) deletes.add((count * 1000) / (milliseconds - start), milliseconds - start, alone);
  }
  return [deletes.row()];
}

async function renewed({ rows }) {
  await rows('UPDATE bench_deletes.sessions SET deleted_at = NULL WHERE deleted_at IS NOT NULL');
  await rows('VACUUM (ANALYZE) bench_deletes.sessions');
}

/** The time of the same updates over three connections, a thousand ids at a time, in ms: as many as the command has in progress. */
async function updatesAlone({ url }, project) {
  const clients = Array.from({ length: 3 }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  const start = performance.now();
  let next = 0;
  const work = async (client) => {
    for (let from = next; from < count; from = next) {
      next += idsOfBatch;
      const ids = Array.from({ length: idsOfBatch }, (_, index) => sessionId(from + index));
      await client.query(
        'UPDATE bench_deletes.sessions SET deleted_at = $3 WHERE project = $1 AND session_id = ANY ($2::text[])',
        [project, ids, Date.now()],
      );
    }
  };
  await Promise.all(clients.map(work));
  const milliseconds = performance.now() - start;
  await Promise.all(clients.map((client) => client.end()));
  return milliseconds;
}

/** A process that reads from a file, and writes to one, as in `< ids > results`. */
function timed(words, input, env, directory) {
  const results = join(directory, 'results');
  const [stdin, stdout] = [openSync(input, 'r'), openSync(results, 'w')];
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [parley, ...words], {
    ...{ env, encoding: 'utf8' },
    stdio: [stdin, stdout, 'pipe'],
  });
  const milliseconds = performance.now() - start;
  closeSync(stdin);
  closeSync(stdout);
  if (status !== 0) throw new Error(`parley ${words.join(' ')}\nexit ${status}\n${stderr}`);
  return { milliseconds, output: readFileSync(results, 'utf8') };
}
