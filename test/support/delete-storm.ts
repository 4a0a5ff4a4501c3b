// Many deletions against a server that fails in every way, and batches whose clients are killed and resumed. The reports are then compared with
// the state of the server, and the final state with the request.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openBasicServer, type Trouble } from './basic-server.ts';
import type { Outcome, Place } from './parley.ts';
import { endOf } from './parley.ts';
import { type StormStore, sqliteStorm } from './storm-store.ts';

export interface StormReport {
  readonly ids: number;
  readonly runs: number;
  readonly kills: number;
  /** How the runs ended, by exit status. */
  readonly statuses: readonly (number | null)[];
  readonly counts: Readonly<Record<string, number>>;
  readonly milliseconds: number;
  readonly faults: readonly string[];
}

export interface StormOptions {
  readonly ids: number;
  readonly random: () => number;
}

/** Of 1,000 deletions, 50 fail, 10 are reset, 1 hangs, and 20 get 429. */
function troubles(random: () => number): (count: number) => Trouble {
  return () => {
    const share = random();
    if (share < 0.05) return 'failed';
    if (share < 0.055) return 'reset';
    if (share < 0.06) return 'lost';
    if (share < 0.061) return 'hung';
    if (share < 0.081) return 'limited';
    return 'none';
  };
}

/** One in a hundred ids is unknown. The key is revoked half-way, and a new one is used from then on. */
export async function troubledDeletes(place: Place, options: StormOptions): Promise<StormReport> {
  const ids = Array.from({ length: options.ids }, (_, index) => `ses_${index}_of_storm`);
  const there = new Set(ids.filter((_, index) => index % 100 !== 7));
  const server = await openBasicServer({
    ids: there,
    projectId: 'prj_storm',
    trouble: troubles(options.random),
    before(count, { keys }) {
      if (count === Math.floor(options.ids / 2)) keys.delete('key-1');
    },
  });
  const began = performance.now();
  const last = new Map<string, string>();
  const statuses: (number | null)[] = [];
  const faults: string[] = [];
  try {
    const env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'key-1' };
    const words = ['--timeout', '1', 'sessions', 'delete'];
    let outcome = await place.parley([...words, '-', '--yes'], { env, stdin: `${ids.join('\n')}\n` });
    const batch = batchOf(outcome);
    take(outcome, last, faults);
    statuses.push(outcome.status);
    server.keys.add('key-2');
    while (batch !== null && statuses.length < 30) {
      outcome = await place.parley([...words, '--resume', batch], {
        env: { ...env, PARLEY_API_KEY: 'key-2' },
      });
      take(outcome, last, faults);
      statuses.push(outcome.status);
      const undone = [...last.values()].includes('failed') || last.size < ids.length;
      if (!undone) break;
    }
    if (batch === null) faults.push(`no batch was named: ${outcome.err}`);
    if (statuses[0] !== 4) faults.push(`the revoked key ended the first run with ${statuses[0]}`);
    for (const id of ids) {
      const result = last.get(id) ?? 'nothing';
      const is = server.deleted.has(id) ? 'deleted' : there.has(id) ? 'active' : 'not_found';
      const isUnknowable = result === 'deleted' && is === 'not_found' && server.unanswered.has(id);
      if (result !== is && !isUnknowable) faults.push(`${id}: told ${result}, is ${is}`);
    }
    if (last.size !== ids.length) faults.push(`${last.size} ids were told of`);
  } finally {
    await server.close();
  }
  const counts: Record<string, number> = {};
  for (const status of last.values()) counts[status] = (counts[status] ?? 0) + 1;
  const milliseconds = performance.now() - began;
  return { ids: ids.length, runs: statuses.length, kills: 0, statuses, counts, milliseconds, faults };
}

/** The batches of killed clients: the command, the status of their results, and the unchanged sessions. */
const killedBatches = {
  delete: { words: [], done: 'deleted', unchanged: 'deleted_at IS NULL' },
  archive: { words: [], done: 'archived', unchanged: 'NOT archived' },
  tag: { words: ['--add', 'storm'], done: 'tagged', unchanged: 'tags IS NULL' },
} as const;

export interface KilledOptions extends StormOptions {
  readonly kind: keyof typeof killedBatches;
  readonly kills: number;
  /** The ids of all sessions, the oldest first. */
  readonly existing: readonly string[];
}

/**
 * A client over the embedded store, stopped at random moments and resumed until it has finished. Then all sessions but the first are changed,
 * and undoing the batch reverts everything.
 */
export async function killedClients(
  place: Place,
  options: KilledOptions,
  store: StormStore = sqliteStorm(place),
): Promise<StormReport> {
  const { env, schema } = store;
  const { kind, existing, random } = options;
  const { words: choices, done, unchanged } = killedBatches[kind];
  const [spared = '', ...ids] = existing;
  const faults: string[] = [];
  const statuses: (number | null)[] = [];
  const last = new Map<string, string>();
  const began = performance.now();
  let kills = 0;
  // An estimate of the duration of a whole batch in ms, until one was measured.
  let life = 400 + ids.length / 40;
  while (kills < options.kills) {
    let words = ['sessions', kind, '-', ...choices, '--yes'];
    let stdin: string | undefined = `${ids.join('\n')}\n`;
    let batch: string | null = null;
    for (let isOver = false; !isOver; ) {
      const start = performance.now();
      const child = place.spawn(words, { env, ...(stdin !== undefined && { stdin }) });
      const written = { out: '', err: '' };
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        written.out += text;
      });
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        written.err += text;
      });
      let stopped: Promise<void> | null = null;
      const stop = () => {
        stopped = store.stop(child);
      };
      const timer = kills < options.kills ? setTimeout(stop, random() * life) : null;
      const closed = new Promise((resolve) => child.once('close', resolve));
      const end = await endOf(child);
      await closed;
      if (timer !== null) clearTimeout(timer);
      await stopped;
      const isStopped = stopped !== null;
      if (isStopped) kills += 1;
      else life = Math.max(50, performance.now() - start);
      take({ ...end, ...written }, last, faults, done);
      statuses.push(end.status);
      batch ??= newestBatch(place);
      // If it was killed before its journal had a name, it has changed nothing, and is started again.
      if (batch !== null) {
        words = ['sessions', kind, '--resume', batch];
        stdin = undefined;
      }
      // A process whose connections end may continue over others.
      isOver = end.status === 0 || !isStopped;
      if (isOver && end.status !== 0) faults.push(`ended with ${end.status}: ${written.err}`);
    }
    const left = await store.rows(`SELECT session_id FROM ${schema}.sessions WHERE ${unchanged}`);
    if (left.length !== 1 || left[0]?.['session_id'] !== spared)
      faults.push(`${left.length} are left unchanged`);
    const back = await place.parley(['sessions', 'restore', '--batch', batch ?? ''], { env });
    if (back.status !== 0) faults.push(`restoring ended with ${back.status}: ${back.err}`);
    const [after] = await store.rows(
      `SELECT count(*) AS count, (SELECT count(*) FROM ${schema}.session_tags) AS tags FROM ${schema}.sessions WHERE ${unchanged}`,
    );
    const { count, tags } = after ?? {};
    if (Number(count) !== existing.length) faults.push(`${count} came back`);
    if (Number(tags) !== 0) faults.push(`${tags} tags are left for the filter`);
    removeJournal(place, batch ?? '');
  }
  const counts: Record<string, number> = {};
  for (const status of last.values()) counts[status] = (counts[status] ?? 0) + 1;
  const milliseconds = performance.now() - began;
  return { ids: ids.length, runs: statuses.length, kills, statuses, counts, milliseconds, faults };
}

function take(
  { out }: Pick<Outcome, 'out'>,
  last: Map<string, string>,
  faults: string[],
  done = 'deleted',
): void {
  const lines = out.split('\n');
  // A line that was cut by a kill is ignored.
  lines.pop();
  for (const line of lines) {
    const [, status = '', id = ''] = /^(\w+) (\S+)(?: [A-Z_]+)?$/.exec(line) ?? [];
    if (![done, 'not_found', 'failed'].includes(status)) faults.push(`not a result: ${JSON.stringify(line)}`);
    const before = last.get(id);
    if (before === 'not_found' || (before === done && status !== done)) {
      faults.push(`${id}: told ${before}, then ${status}`);
    }
    last.set(id, status);
  }
}

function batchOf({ err }: Outcome): string | null {
  return /--resume (\S+)/.exec(err)?.[1] ?? null;
}

function newestBatch(place: Place): string | null {
  const directory = join(place.dataDirectory, 'batches');
  const names = existsSync(directory)
    ? readdirSync(directory).filter((name) => name.endsWith('.journal'))
    : [];
  return (
    names
      .sort()
      .at(-1)
      ?.replace(/\.journal$/, '') ?? null
  );
}

function removeJournal(place: Place, batch: string): void {
  rmSync(join(place.dataDirectory, 'batches', `${batch}.journal`), { force: true });
}
