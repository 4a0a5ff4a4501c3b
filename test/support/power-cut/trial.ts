// One command, cut at many moments: checks each state of the disk against the output of the command by then.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlaceInProcess } from '../place-in-process.ts';
import { Disk, type DiskState, namesAlone, ordered, randomSurvival, strict, writeState } from './disk.ts';
import type { Operation, Recorder } from './recording.ts';
import type { ReadOutput, Scenario } from './scenario.ts';

export interface Extent {
  /** True: checks states after each operation, not only after each output. */
  readonly everyMoment: boolean;
  /** The number of random states at each of these moments. */
  readonly randomStates: number;
  /** 0 to 1. */
  readonly random: () => number;
}

export interface TrialReport {
  readonly name: string;
  readonly states: number;
  readonly faults: readonly string[];
}

export async function runTrial(scenario: Scenario, recorder: Recorder, extent: Extent): Promise<TrialReport> {
  const place = new PlaceInProcess();
  try {
    const { words, stdin } = await scenario.prepare(place);
    const disk = new Disk(place.path);
    const { operations, status } = await recorder.record(place, words, stdin);
    if (status !== 0) throw new Error(`${scenario.name} ended with ${status}.`);
    const real = filesBelow(place.path);
    const faults = lostLocks(operations);
    const seen = new Set<string>();
    for (const { output, moment, kind, state } of statesOf(disk, operations, extent)) {
      const mark = markOf(state, output);
      if (seen.has(mark)) continue;
      seen.add(mark);
      writeState(place.path, state);
      const found = await scenario.faults(place, output);
      faults.push(...found.map((fault) => `${kind}, after ${moment}: ${fault}`));
    }
    // The recorder has missed nothing.
    const left = disk.state(ordered, 4096);
    for (const [path, content] of real) {
      if (!path.endsWith('.lock') && !left.get(path)?.equals(content))
        faults.push(`the recorder has another ${path}`);
    }
    return { name: scenario.name, states: seen.size, faults };
  } finally {
    place.remove();
  }
}

interface Moment {
  readonly output: ReadOutput;
  readonly moment: string;
  readonly kind: string;
  readonly state: DiskState;
}

function* statesOf(disk: Disk, operations: readonly Operation[], extent: Extent): Generator<Moment> {
  const { everyMoment, randomStates, random } = extent;
  const output = { out: '', err: '', ended: false };
  for (const [index, operation] of operations.entries()) {
    disk.take(operation);
    if (operation.kind === 'say') output[operation.stream] += operation.text;
    output.ended = index === operations.length - 1;
    if (!everyMoment && operation.kind !== 'say' && !output.ended) continue;
    const moment = `${index} (${operation.kind})`;
    const at = { output: { ...output }, moment };
    yield { ...at, kind: 'strict', state: disk.state(strict, 4096) };
    if (everyMoment || output.ended)
      yield { ...at, kind: 'names alone', state: disk.state(namesAlone, 4096) };
    if (everyMoment) yield { ...at, kind: 'ordered', state: disk.state(ordered, 4096) };
    for (let count = 0; count < randomStates; count += 1) {
      const sector = random() < 0.5 ? 512 : 4096;
      yield { ...at, kind: `random, by ${sector}`, state: disk.state(randomSurvival(random), sector) };
    }
  }
}

function markOf(state: DiskState, output: ReadOutput): string {
  const hash = createHash('sha256').update(JSON.stringify(output));
  for (const [path, content] of [...state].sort(([one], [other]) => (one < other ? -1 : 1))) {
    hash.update(`\0${path}\0${content?.length}\0`).update(content ?? '');
  }
  return hash.digest('hex');
}

/** Closing a second descriptor of the store would release the locks that SQLite holds, so only SQLite may open it. */
function lostLocks(operations: readonly Operation[]): string[] {
  return operations.flatMap((operation) =>
    operation.kind === 'locks-lost' ? [`the locks of ${operation.path} were lost`] : [],
  );
}

function filesBelow(root: string): ReadonlyMap<string, Buffer> {
  return new Map(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('-shm'))
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path.slice(root.length + 1), readFileSync(path)];
      }),
  );
}
