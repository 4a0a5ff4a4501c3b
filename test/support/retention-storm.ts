// Retention runs that are stopped at random moments: later runs complete the work, one batch contains all of it, the audit log names each session
// once, and restoring the batch restores everything.

import { endOf, type Place, type Variables } from './parley.ts';
import { type StormStore, sqliteStorm } from './storm-store.ts';

export interface RetentionStorm {
  readonly runs: number;
  readonly kills: number;
  readonly faults: readonly string[];
}

const ageMs = 100 * 24 * 60 * 60 * 1000;

/** A store with old sessions and a policy. Of the sessions, one in a thousand is pinned, and one in a hundred is young. */
export async function oldStore(
  place: Place,
  sessions: number,
  store = sqliteStorm(place),
): Promise<{ readonly expire: number }> {
  const { env } = store;
  await place.output(['keys', 'create', '--project', 'default', '--use'], { env });
  await store.fill(sessions, Date.now() - ageMs - sessions);
  const update = `UPDATE ${store.schema}.sessions SET`;
  await store.change(`
    ${update} updated_at = updated_at + ${ageMs} WHERE id % 100 = 0;
    ${update} pinned = true WHERE id % 1000 = 1;
    ${update} archived = true WHERE id % 100 = 2`);
  await place.output(['retention', 'set', '--after', '90d'], { env });
  const plan = await place.answer<{ expire: number }>(['retention', 'run', '--dry-run'], { env });
  return { expire: plan.expire };
}

/** A run is stopped when it has expired some more sessions. */
export async function killedRuns(
  place: Place,
  {
    expire,
    kills: maxKills,
    pauseMs,
  }: { readonly expire: number; readonly kills: number; pauseMs(): number },
  store = sqliteStorm(place),
): Promise<RetentionStorm> {
  const { env, schema } = store;
  const faults: string[] = [];
  const expired = () => countOf(store, 'expired IS NOT NULL');
  let [runs, kills] = [0, 0];
  let words = ['retention', 'run', '--confirm', String(expire)];
  for (let isOver = false; !isOver; ) {
    const before = await expired();
    const child = place.spawn(words, { env });
    const ended = endOf(child);
    let isRunning = true;
    void ended.then(() => {
      isRunning = false;
    });
    let isStopped = false;
    if (kills < maxKills) {
      while (isRunning && (await expired()) <= before) await pause(5);
      await pause(pauseMs());
      isStopped = isRunning;
      await store.stop(child);
    }
    const end = await ended;
    runs += 1;
    // A run whose connections end may end, or continue over others.
    if (isStopped) kills += 1;
    else if (end.status !== 0) faults.push(`ended with ${end.status}`);
    if (runs > maxKills + 20) faults.push('never ended');
    isOver = end.status === 0 || faults.length > 0;
    if ((await expired()) > 0) words = ['retention', 'run', '--yes'];
  }
  if ((await expired()) !== expire) faults.push(`${await expired()} expired, not ${expire}`);
  const batches = await store.rows(`SELECT batch, expired, ended_at FROM ${schema}.retention_runs`);
  const [batch] = batches;
  if (batches.length !== 1 || Number(batch?.['expired']) !== expire || batch?.['ended_at'] === null)
    faults.push(`the batches are ${JSON.stringify(batches)}`);
  await place.output(['sessions', 'restore', '--batch', String(batch?.['batch'])], { env });
  const left = await countOf(store, 'deleted_at IS NOT NULL OR expired IS NOT NULL');
  if (left !== 0) faults.push(`${left} did not come back`);
  for (const what of ['expire', 'restore']) {
    const ids = await toldSessions(place, what, env);
    if (ids.length !== expire || new Set(ids).size !== expire)
      faults.push(`the audit log has ${ids.length} of ${what}, ${new Set(ids).size} distinct`);
  }
  return { runs, kills, faults };
}

async function countOf({ rows, schema }: StormStore, where: string): Promise<number> {
  const [row] = await rows(`SELECT count(*) AS count FROM ${schema}.sessions WHERE ${where}`);
  return Number(row?.['count']);
}

async function toldSessions(place: Place, what: string, env: Variables): Promise<readonly string[]> {
  const text = await place.output(['audit', 'export', '--what', what], { env });
  return text
    .split('\n')
    .filter(Boolean)
    .flatMap((line) => JSON.parse(line).ids);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
