// Deleting many sessions through `parley serve`, with a result for each, as `parley sessions delete` does it.

import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serveParley } from '../served-place.js';
import { addSessions, sessionId } from './filled-store.js';
import { newStore, parley, usualEnvironment } from './places.js';
import { line } from './report.js';

const count = 100_000;

export async function measureDeletes({ database, home, children, rounds, say }) {
  const { env, key, project } = await newStore(database, 'bench_deletes', usualEnvironment(home));
  const { url } = await serveParley(env, children);
  await addSessions(database, 'bench_deletes', { project, count, messages: 0 });
  const client = join(home, 'client');
  mkdirSync(client);
  const remote = { ...usualEnvironment(client), PARLEY_URL: url, PARLEY_API_KEY: key };
  const ids = join(client, 'ids');
  writeFileSync(ids, Array.from({ length: count }, (_, number) => `${sessionId(number)}\n`).join(''));
  const deletes = line(`${count} served deletes, a second`, { unit: 'ms', least: 45_000 });
  for (let round = -1; round < rounds; round += 1) {
    await database.rows('UPDATE bench_deletes.sessions SET deleted_at = NULL WHERE deleted_at IS NOT NULL');
    await database.rows('VACUUM (ANALYZE) bench_deletes.sessions');
    // Without the start of node and of Parley: the rate is that of deleting.
    const nothing = ['sessions', 'delete', 'ses_of_nobody', '--ignore-missing'];
    const { milliseconds: start } = timed(nothing, '/dev/null', remote, client);
    const { milliseconds, output } = timed(['sessions', 'delete', '-', '--yes'], ids, remote, client);
    const deleted = output.split('\n').filter((text) => text.startsWith('deleted ')).length;
    if (deleted !== count) throw new Error(`${deleted} of ${count} were deleted.`);
    say(`deletes, round ${round + 1} of ${rounds}`);
    if (round >= 0) deletes.add((count * 1000) / (milliseconds - start), milliseconds);
  }
  return [deletes.row()];
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
