// Kills a batch (`kill -9`) repeatedly at random moments and resumes it each time. Then its output and the store are compared with its input: no
// duplicate id, no missing id, no message sent twice.
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endOf, type Place } from './parley.ts';
import { storedMessages, storeFaults } from './stored-turns.ts';

export interface BatchStorm {
  readonly kills: number;
  readonly lines: number;
  readonly inSession: boolean;
  /** 0 to 1. */
  readonly random: () => number;
}

export interface BatchReport {
  readonly kills: number;
  /** Kills that left a part of the output. */
  readonly midway: number;
  readonly faults: readonly string[];
}

export async function batchStorm(place: Place, storm: BatchStorm): Promise<BatchReport> {
  const faults: string[] = [];
  let kills = 0;
  let midway = 0;
  let batches = 0;
  // The first use creates the store and the key. It also measures the duration of a whole batch.
  await place.output(['models']);
  const life = await wholeLife(place, storm);
  while (kills < storm.kills) {
    batches += 1;
    const input = messages(storm, `batch ${batches}`);
    const output = join(place.path, `output-${batches}`);
    let end = await runOnce(place, storm, { input, output, killAfter: storm.random() * life });
    for (; end === null; end = await runOnce(place, storm, { input, output, killAfter: killing() })) {
      kills += 1;
      const left = readFileSync(output, 'utf8').split('\n').length - 1;
      if (left > 0 && left < storm.lines) midway += 1;
    }
    if (end.status !== 0) faults.push(`a batch ended with ${end.status}: ${end.talk}`);
    faults.push(...outputFaults(readFileSync(output, 'utf8'), storm.lines));
  }
  function killing(): number | null {
    return kills < storm.kills ? storm.random() * life : null;
  }
  const messageCount = (batches + 1) * storm.lines;
  const stored = storedMessages(place).filter(({ role }) => role === 'user');
  const distinct = new Set(stored.map(({ content }) => content));
  if (stored.length !== messageCount || distinct.size !== messageCount) {
    faults.push(`${messageCount} messages were sent, ${stored.length} are stored, ${distinct.size} distinct`);
  }
  return { kills, midway, faults: [...faults, ...storeFaults(place)] };
}

function messages({ lines }: BatchStorm, name: string): string {
  return Array.from({ length: lines }, (_, index) => `line ${index + 1} of ${name}\n`).join('');
}

async function wholeLife(place: Place, storm: BatchStorm): Promise<number> {
  const output = join(place.path, 'whole');
  const start = performance.now();
  await runOnce(place, storm, { input: messages(storm, 'whole'), output, killAfter: null });
  return performance.now() - start;
}

interface Run {
  readonly input: string;
  readonly output: string;
  /** Milliseconds. */
  readonly killAfter: number | null;
}

/** Null if it was killed before its end. Its output is redirected at first, and later resumed. */
async function runOnce(place: Place, storm: BatchStorm, run: Run): Promise<Ending | null> {
  const resumes = readable(run.output);
  const stdout = openSync(resumes ? '/dev/null' : run.output, 'w');
  const words = [
    'chat',
    '--batch',
    '--mode',
    'echo',
    '--quiet',
    ...(storm.inSession ? ['--in-session'] : []),
  ];
  const child = place.spawn([...words, ...(resumes ? ['--resume', run.output] : [])], {
    stdin: run.input,
    stdout,
  });
  closeSync(stdout);
  let talk = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    talk += chunk;
  });
  const ended = endOf(child);
  if (run.killAfter !== null) {
    await Promise.race([ended, delay(run.killAfter)]);
    child.kill('SIGKILL');
  }
  const { status, signal } = await ended;
  return signal === 'SIGKILL' ? null : { status, talk: talk };
}

interface Ending {
  readonly status: number | null;
  /** Its stderr. */
  readonly talk: string;
}

function readable(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

function outputFaults(output: string, lines: number): readonly string[] {
  const results = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const ids = results.map(({ id }) => id).toSorted((one: number, other: number) => one - other);
  const isWhole = ids.length === lines && ids.every((id, index) => id === index + 1);
  const failed = results.filter(({ success }) => success !== true).length;
  const wrong = results.filter(({ id, data }) => !data?.reply.startsWith(`line ${id} of `)).length;
  return [
    ...(isWhole ? [] : [`the output of ${lines} lines has ${ids.length} results, ${new Set(ids).size} ids`]),
    ...(failed === 0 ? [] : [`${failed} results are failures`]),
    ...(wrong === 0 ? [] : [`${wrong} results are of other lines`]),
  ];
}
