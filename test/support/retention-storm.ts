// Runs of retention that are killed at random moments, over the embedded store: the runs after them do all that is to be done, one batch has
// all of it, and restoring the batch takes all of it back.

import { endOf, type Place } from './parley.ts';
import { lookInto } from './raw-database.ts';

export interface RetentionStorm {
  readonly runs: number;
  readonly kills: number;
  readonly faults: readonly string[];
}

const ageMs = 100 * 24 * 60 * 60 * 1000;

/** A store with old sessions and a policy. Of the sessions, one in a thousand is pinned, and one in a hundred is young. */
export async function oldStore(place: Place, sessions: number): Promise<{ readonly expire: number }> {
  const old = Date.now() - ageMs - sessions;
  await place.output(['models']);
  lookInto(place.storeFile, (database) => {
    database.pragma('synchronous = OFF');
    database
      .prepare(
        `WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${sessions})
        INSERT INTO sessions (session_id, project, title, created_at, updated_at, pinned, archived)
        SELECT 'ses_' || lower(hex(randomblob(13))), 1, 'title ' || number, ${old} + number, ${old} + number, 0, 0
        FROM numbers`,
      )
      .run();
    database.exec(`
      UPDATE sessions SET updated_at = updated_at + ${ageMs} WHERE id % 100 = 0;
      UPDATE sessions SET pinned = 1 WHERE id % 1000 = 1;
      UPDATE sessions SET archived = 1 WHERE id % 100 = 2;`);
  });
  await place.output(['retention', 'set', '--after', '90d']);
  const plan = await place.answer<{ expire: number }>(['retention', 'run', '--dry-run']);
  return { expire: plan.expire };
}

/** A run is killed when it has expired some sessions more. */
export async function killedRuns(
  place: Place,
  { expire, kills: most, pauseMs }: { readonly expire: number; readonly kills: number; pauseMs(): number },
): Promise<RetentionStorm> {
  const faults: string[] = [];
  let [runs, kills] = [0, 0];
  let words = ['retention', 'run', '--confirm', String(expire)];
  for (let isOver = false; !isOver; ) {
    const before = expired(place);
    const child = place.spawn(words);
    const ended = endOf(child);
    let isRunning = true;
    void ended.then(() => {
      isRunning = false;
    });
    if (kills < most) {
      while (isRunning && expired(place) <= before) await pause(5);
      await pause(pauseMs());
      child.kill('SIGKILL');
    }
    const end = await ended;
    runs += 1;
    if (end.signal === 'SIGKILL') kills += 1;
    else if (end.status !== 0) faults.push(`ended with ${end.status}`);
    if (runs > most + 20) faults.push('never ended');
    isOver = end.signal === null || faults.length > 0;
    if (expired(place) > 0) words = ['retention', 'run', '--yes'];
  }
  if (expired(place) !== expire) faults.push(`${expired(place)} expired, not ${expire}`);
  const batches = place.rows<{ batch: string; expired: number; ended_at: number | null }>(
    'SELECT batch, expired, ended_at FROM retention_runs',
  );
  const [batch] = batches;
  if (batches.length !== 1 || batch?.expired !== expire || batch.ended_at === null)
    faults.push(`the batches are ${JSON.stringify(batches)}`);
  await place.output(['sessions', 'restore', '--batch', batch?.batch ?? '']);
  const left = place.rows<{ count: number }>(
    'SELECT count(*) AS count FROM sessions WHERE deleted_at IS NOT NULL OR expired IS NOT NULL',
  );
  if (left[0]?.count !== 0) faults.push(`${left[0]?.count} did not come back`);
  return { runs, kills, faults };
}

function expired(place: Place): number {
  const [row] = place.rows<{ count: number }>(
    'SELECT count(*) AS count FROM sessions WHERE expired IS NOT NULL',
  );
  return row?.count ?? 0;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
