// Kills syncs (`kill -9`) at random moments while both places change. In the end both must have the same sessions, and each acknowledged message.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Place } from './parley.ts';

export interface SyncKills {
  readonly kills: number;
  /** New sessions at each place before each kill. */
  readonly sessions: number;
  /** 0 to 1. */
  readonly random: () => number;
}

export interface SyncKillsReport {
  readonly kills: number;
  /** Kills after the first result and before the end. */
  readonly midway: number;
  readonly sessions: number;
  readonly faults: readonly string[];
}

/** Kills `sync other` after a number of results, and a further `afterMs`. True if that was before its end. */
export async function killedSync(
  place: Place,
  { results, afterMs }: { readonly results: number; readonly afterMs: number },
): Promise<{ readonly results: number; readonly isKilled: boolean }> {
  const child = place.start(['sync', 'other']);
  child.stdin.end();
  let count = 0;
  const isReached = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      count += chunk.toString().split('\n').length - 1;
      if (count >= results) resolve();
    });
  });
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  if (results > 0) await Promise.race([isReached, closed]);
  await delay(afterMs);
  child.kill('SIGKILL');
  const [, signal] = await closed;
  return { results: count, isKilled: signal !== null };
}

/** All active sessions of the place that these options select, one line each, sorted. */
export async function exportedBy(place: Place, ...words: readonly string[]): Promise<readonly string[]> {
  const out = await place.output(['sessions', 'export', '--all', '--format', 'json', ...words]);
  return out.split('\n').filter(Boolean).sort();
}

/** `place` has a profile `other` for the other place. */
export async function syncKills(
  place: Place,
  { kills, sessions, random }: SyncKills,
): Promise<SyncKillsReport> {
  const faults: string[] = [];
  const sent: string[] = [];
  const sides = [[], ['--profile', 'other']] as const;
  const shared: string[] = [];
  let midway = 0;
  const change = async (round: number) => {
    for (const [side, words] of sides.entries()) {
      const lines = Array.from({ length: sessions }, (_, at) => {
        const message = `round ${round}, side ${side}, line ${at}`;
        sent.push(message);
        // One line in three continues a session that both places have, possibly at once.
        const id = at % 3 === 2 ? shared[Math.floor(random() * shared.length)] : undefined;
        return JSON.stringify({ message, ...(id !== undefined && { session_id: id }) });
      });
      const out = await place.output(['chat', '--batch', '-m', 'echo', '--json', ...words], {
        stdin: lines.join('\n'),
      });
      const ids = out.split('\n').flatMap((line) => /"session_id":"(ses_[^"]+)"/.exec(line)?.[1] ?? []);
      if (ids.length !== lines.length) faults.push(`round ${round}: ${ids.length} of ${lines.length} lines`);
      made.push(...ids);
    }
  };
  const made: string[] = [];
  for (let round = 1; round <= kills; round += 1) {
    await change(round);
    const results = Math.floor(random() * 2 * sessions);
    const { results: count, isKilled } = await killedSync(place, {
      results,
      afterMs: random() * (results === 0 ? 400 : 20),
    });
    if (isKilled && count > 0) midway += 1;
    if (round % 5 !== 0) continue;
    // Occasionally a sync ends, so that there are sessions that both places have.
    const { status, err } = await place.parley(['sync', 'other']);
    if (status !== 0) faults.push(`the sync after kill ${round} ended with ${status}: ${err}`);
    shared.push(...made.splice(0));
  }
  const { status, err } = await place.parley(['sync', 'other']);
  if (status !== 0) faults.push(`the last sync ended with ${status}: ${err}`);
  const left = await place.output(['sync', 'other']);
  if (left !== '') faults.push(`the last sync left something to do: ${left}`);
  const [here, there] = await Promise.all(sides.map((words) => exportedBy(place, ...words)));
  if (here?.join('\n') !== there?.join('\n')) faults.push('the two places have different sessions');
  const text = here?.join('\n') ?? '';
  for (const message of sent) if (!text.includes(JSON.stringify(message))) faults.push(`lost: ${message}`);
  return { kills, midway, sessions: here?.length ?? 0, faults };
}
