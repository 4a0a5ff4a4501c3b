// Reads a journal: what the batch does, and the results of its ids. A line that a crash has cut is ignored.
import { closeSync, fstatSync, openSync } from 'node:fs';
import { ParleyError } from '../../service/errors.ts';
import { quoted } from '../../service/quoted.ts';
import { type BatchAction, type BatchKind, batchKinds } from './batch-kind.ts';
import type { ItemResult } from './batch-report.ts';
import type { BatchEntry } from './id-list.ts';
import {
  type BatchHolder,
  BatchJournal,
  type BatchOwner,
  type BatchSeal,
  isSameOwner,
  journalPath,
  sumOf,
} from './journal.ts';
import { fileStatus } from './journal-files.ts';
import { actionIn, readSeal, restoredIn } from './journal-lines.ts';
import type { BatchSummary } from './journal-summary.ts';
import { type BatchRestored, JournalTally } from './journal-tally.ts';
import { linesOf } from './lines.ts';

/** The states of an id, one byte each, because there may be a million ids. */
const unknown = 0;
const done = 1;
const states: Readonly<Record<string, number>> = {
  ...Object.fromEntries(Object.values(batchKinds).map(({ done }) => [done, 1])),
  not_found: 2,
  failed: 3,
  unsure: 4,
};

/** `done`: the batch did it, or may have. `outstanding`: still to be done. `missing`: not found. `doubtful`: it is unknown whether it was done. */
type IdState = 'done' | 'outstanding' | 'missing' | 'doubtful';

export class KnownBatch {
  readonly seal: BatchSeal;
  /** Null if the batch was never undone. */
  restored: BatchRestored | null = null;
  readonly #file: number;
  /** The number of bytes before the seal. */
  readonly #idBytes: number;
  readonly #states: Uint8Array;
  /** What was changed of each id, as an index into `#changed`: a batch has few different changes. */
  readonly #changes: Uint16Array;
  readonly #changed: string[] = [''];
  /** Ids before this number may have been sent. */
  #sent = 0;
  /** 1 for a result that may not have been printed. Null for a journal of an earlier version, which does not say it. */
  #unprinted: Uint8Array | null = null;
  /** The results before this number were printed. */
  #printed = 0;

  /** Throws `USAGE` if there is no such batch, and `STORE_BUSY` while another process uses it. */
  static async open(
    dataDirectory: string,
    batch: string,
    holder: BatchHolder,
  ): Promise<{ readonly known: KnownBatch; readonly journal: BatchJournal }> {
    const path = journalPath(dataDirectory, batch);
    if (!/^[\w-]+$/.test(batch) || fileStatus(path) === null) throw noSuchBatch(batch);
    const journal = await BatchJournal.open(path, batch, holder);
    try {
      const known = new KnownBatch(journal.file, path, batch);
      journal.tally = known.#tally();
      // Ids whose result is unknown after a kill are recorded as `unsure`, so that the journal can be settled.
      journal.record([...known.#doubtfulNumbers()].map((number) => ({ number, status: 'unsure' })));
      journal.settle();
      return { known, journal };
    } catch (error) {
      journal.close();
      throw error;
    }
  }

  constructor(file: number, path: string, batch: string) {
    this.#file = file;
    const found = sealIn(file);
    if (found === null) {
      throw new ParleyError('USAGE', `${path} is not a journal that this version of Parley can read.`, {
        hint: 'It was not changed, and nothing was done. A newer Parley may have written it.',
      });
    }
    const { seal, ids, bytes, end } = found;
    // The earliest journals have no checksum.
    const isWhole = seal.sum === undefined || seal.sum === sumOf(file, bytes);
    if (seal.batch !== batch || seal.ids !== ids || !isWhole) {
      throw new ParleyError('USAGE', `${path} was edited after batch ${seal.batch} was started.`, {
        hint: 'It was not changed, and nothing was done. Pass ids instead: parley sessions delete - < FILE, or restore - < FILE',
      });
    }
    this.seal = seal;
    this.#idBytes = bytes;
    this.#states = new Uint8Array(seal.ids);
    this.#changes = new Uint16Array(this.action.kind === 'delete' ? 0 : seal.ids);
    for (const line of linesOf(file, end, fstatSync(file).size)) this.#take(line);
  }

  /** What the batch does. */
  get action(): BatchAction {
    return actionIn(this.seal);
  }

  /** The distinct changes of the batch. */
  get changes(): readonly string[] {
    return this.#changed.slice(1);
  }

  /** The ids with this change, one of `changes`. */
  *changedBy(change: string): Generator<BatchEntry> {
    const place = this.#changed.indexOf(change);
    let number = 0;
    for (const entry of this.entries('done'))
      if (this.#changes[entry.number] === place) yield { id: entry.id, number: number++ };
  }

  countChangedBy(change: string): number {
    const place = this.#changed.indexOf(change);
    return this.#changes.reduce((count, one) => count + (one === place ? 1 : 0), 0);
  }

  *entries(state: IdState): Generator<BatchEntry> {
    let number = 0;
    for (const id of idsIn(this.#file)) {
      if (this.#is(state, number)) yield { id, number, isInDoubt: this.#isInDoubt(number) };
      number += 1;
    }
  }

  /** The results that may not have been printed, without those of ids that are still to be done. */
  *unprinted(): Generator<ItemResult> {
    if (this.#unprinted === null) return;
    const { kind } = this.action;
    let number = -1;
    for (const session_id of idsIn(this.#file)) {
      number += 1;
      if (this.#unprinted[number] === 0) continue;
      const changed = (this.#changed[this.#changes[number] ?? 0] ?? '')
        .split(',')
        .filter((name) => name !== '');
      if (this.#is('missing', number)) yield { session_id, status: 'not_found' };
      else if (this.#states[number] === done)
        yield { session_id, status: batchKinds[kind].done, ...(kind !== 'delete' && { changed }) };
    }
  }

  /** What a list shows of the batch. */
  get summary(): BatchSummary {
    const { seal, action, restored } = this;
    const [done, doubtful, missing] = [this.#countDone(), this.count('doubtful'), this.count('missing')];
    return { seal, action, restored, done, doubtful, missing, left: this.count('outstanding') };
  }

  count(state: IdState): number {
    let count = 0;
    for (const number of this.#states.keys()) if (this.#is(state, number)) count += 1;
    return count;
  }

  /** Throws `USAGE` unless the batch belongs to this server and project. */
  requireOwner(owner: BatchOwner): void {
    const { seal } = this;
    if (isSameOwner(seal, owner)) return;
    const other = seal.origin === owner.origin ? 'another project or key' : `another target, ${seal.origin}`;
    throw new ParleyError('USAGE', `Batch ${seal.batch} belongs to ${other}; nothing was done.`, {
      hint: 'Select the target where it was started with --profile NAME or --url URL.',
    });
  }

  /** Throws `USAGE` unless the batch is of this kind. */
  requireKind(kind: BatchKind): void {
    const own = this.action.kind;
    if (own === kind) return;
    throw new ParleyError(
      'USAGE',
      `Batch ${this.seal.batch} was started by another command; nothing was done.`,
      { hint: `To resume it: parley sessions ${own} --resume ${this.seal.batch}` },
    );
  }

  #is(state: IdState, number: number): boolean {
    const stored = this.#states[number];
    if (state === 'missing') return stored === states['not_found'];
    if (state === 'doubtful') return this.#isInDoubt(number);
    if (state === 'done') return stored === done || this.#isInDoubt(number);
    return stored !== done && stored !== states['not_found'];
  }

  #isInDoubt(number: number): boolean {
    const state = this.#states[number];
    return state === states['unsure'] || (state === unknown && number < this.#sent);
  }

  /** Without the ids whose result is unknown. */
  #countDone(): number {
    return this.count('done') - this.count('doubtful');
  }

  #tally(): JournalTally {
    return new JournalTally(
      this.#idBytes,
      this.seal.ids,
      this.#countDone(),
      this.count('missing'),
      this.restored,
    );
  }

  *#doubtfulNumbers(): Generator<number> {
    for (const number of this.#states.keys()) if (this.#isInDoubt(number)) yield number;
  }

  #take(line: string): void {
    const [, sent] = /^sent (\d+)$/.exec(line) ?? [];
    if (sent !== undefined) this.#sent = Math.max(this.#sent, Number(sent));
    else if (line === 'settled') this.#sent = 0;
    const [, printed] = /^printed (\d+)$/.exec(line) ?? [];
    if (printed !== undefined) this.#takePrinted(Number(printed));
    this.restored = restoredIn(line) ?? this.restored;
    const [, number = '', status = '', changed] = resultForm.exec(line) ?? [];
    const state = states[status];
    if (state === undefined || Number(number) >= this.#states.length) return;
    this.#states[Number(number)] = state;
    this.#unprinted?.fill(1, Number(number), Number(number) + 1);
    if (changed !== undefined && Number(number) < this.#changes.length)
      this.#changes[Number(number)] = this.#placeOf(changed);
  }

  #takePrinted(number: number): void {
    this.#unprinted ??= new Uint8Array(this.seal.ids);
    this.#unprinted.fill(0, number > this.#printed ? this.#printed : 0, number);
    this.#printed = number;
  }

  #placeOf(changed: string): number {
    const place = this.#changed.indexOf(changed);
    return place === -1 ? this.#changed.push(changed) - 1 : place;
  }
}

/** The earliest journals have the code of a failure after its result. */
const resultForm = /^(\d+) (\w+)(?: (\S+))?$/;

/** Reads the seal of a journal and its distinct ids in order; null for a file that is not a journal. The file is open while `read` runs. */
export async function readJournal<Result>(
  path: string,
  read: (seal: BatchSeal, ids: Iterable<string>) => Promise<Result>,
): Promise<Result | null> {
  const file = openSync(path, 'r');
  try {
    const found = sealIn(file);
    return found && (await read(found.seal, idsIn(file)));
  } finally {
    closeSync(file);
  }
}

function* idsIn(file: number): Generator<string> {
  for (const line of linesOf(file, 0, fstatSync(file).size)) {
    if (line.startsWith('\t')) return;
    if (!line.startsWith(' ')) yield line;
  }
}

interface FoundSeal {
  readonly seal: BatchSeal;
  /** The number of distinct ids, and of bytes, before the seal. */
  readonly ids: number;
  readonly bytes: number;
  /** The offset of the first line after the seal. */
  readonly end: number;
}

function sealIn(file: number): FoundSeal | null {
  let ids = 0;
  let bytes = 0;
  for (const line of linesOf(file, 0, fstatSync(file).size)) {
    const end = bytes + Buffer.byteLength(line) + 1;
    if (line.startsWith('\t')) {
      const seal = readSeal(line.slice(1));
      return seal === null ? null : { seal, ids, bytes, end };
    }
    if (!line.startsWith(' ')) ids += 1;
    bytes = end;
  }
  return null;
}

function noSuchBatch(batch: string): ParleyError {
  return new ParleyError('USAGE', `There is no batch ${quoted(batch)}; nothing was done.`, {
    hint: 'To list the batches: parley sessions batches',
  });
}
