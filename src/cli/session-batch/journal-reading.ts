// A journal read back: what the batch is, and which of its ids are done with. Lines that a crash has cut are passed over.
import { closeSync, existsSync, fstatSync, openSync } from 'node:fs';
import { ParleyError } from '../../service/errors.ts';
import { quoted } from '../../service/quoted.ts';
import type { BatchEntry } from './id-list.ts';
import {
  type BatchHolder,
  BatchJournal,
  type BatchOwner,
  type BatchSeal,
  batchDirectory,
  type JournalResult,
  journalPath,
  sumOf,
} from './journal.ts';
import { linesOf } from './lines.ts';

export interface KnownEntry extends BatchEntry {
  /** It may have been sent, and what became of it is not known. */
  readonly inDoubt: boolean;
}

/** States of an id, a byte each. */
const unknown = 0;
const done = 1;
const missing = 2;
const failed = 3;
const unsure = 4;
const states: Readonly<Record<string, number>> = { deleted: done, not_found: missing, failed, unsure };

export class KnownBatch {
  readonly seal: BatchSeal;
  readonly #file: number;
  readonly #size: number;
  readonly #states: Uint8Array;
  #sent = 0;

  /** `USAGE` where there is no such batch, `STORE_BUSY` where another process is at work on it. */
  static async open(
    dataDirectory: string,
    batch: string,
    holder: BatchHolder,
  ): Promise<{ readonly known: KnownBatch; readonly journal: BatchJournal }> {
    const path = journalPath(dataDirectory, batch);
    if (!/^[\w-]+$/.test(batch) || !existsSync(path)) throw noSuchBatch(dataDirectory, batch);
    const journal = await BatchJournal.open(path, batch, holder);
    try {
      const known = new KnownBatch(journal.file, path, batch);
      // What a kill left open is written down, so that the journal can be settled again.
      journal.record(known.#doubts());
      journal.settle();
      return { known, journal };
    } catch (error) {
      journal.close();
      throw error;
    }
  }

  constructor(file: number, path: string, batch: string) {
    this.#file = file;
    this.#size = fstatSync(file).size;
    const found = sealIn(file);
    if (found === null) {
      throw new ParleyError('USAGE', `${path} is not the journal of a batch that Parley can read.`, {
        hint: 'It was left as it is, and nothing was done. A newer Parley may have made it.',
      });
    }
    const { seal, ids, bytes } = found;
    // The first journals had no sum.
    const isWhole = seal.sum === undefined || seal.sum === sumOf(file, bytes);
    if (seal.batch !== batch || seal.ids !== ids || !isWhole) {
      throw new ParleyError('USAGE', `${path} was changed since the batch ${seal.batch} was begun.`, {
        hint: 'It was left as it is, and nothing was done. Give ids instead: parley sessions delete - < FILE, or restore - < FILE',
      });
    }
    this.seal = seal;
    this.#states = new Uint8Array(seal.ids);
    let isSealed = false;
    for (const line of linesOf(file, 0, this.#size)) {
      if (isSealed) this.#take(line);
      else isSealed = line.startsWith('\t');
    }
  }

  /** Ids still to be done: not tried yet, failed, or cut off in the middle. */
  *outstanding(): Generator<KnownEntry> {
    for (const entry of this.#entries()) {
      const state = this.#states[entry.number];
      if (state !== done && state !== missing) yield entry;
    }
  }

  /** Ids that the batch has deleted, or may have. */
  *deleted(): Generator<BatchEntry> {
    for (const { id, number, inDoubt } of this.#entries()) {
      if (this.#states[number] === done || inDoubt) yield { id, number };
    }
  }

  count(what: 'outstanding' | 'deleted' | 'missing'): number {
    const counts = {
      outstanding: (state: number) => state !== done && state !== missing,
      deleted: (state: number, number: number) => state === done || this.#isInDoubt(number),
      missing: (state: number) => state === missing,
    }[what];
    return this.#states.reduce((sum, state, number) => sum + Number(counts(state, number)), 0);
  }

  /** Throws `USAGE` unless the batch belongs to this place. */
  requireOwner(owner: BatchOwner): void {
    const { seal } = this;
    const sameProject =
      seal.project_id !== null && owner.project_id !== null
        ? seal.project_id === owner.project_id
        : seal.key === owner.key;
    if (seal.origin === owner.origin && sameProject) return;
    const what = seal.origin === owner.origin ? 'another project or key' : `another place, ${seal.origin}`;
    throw new ParleyError('USAGE', `The batch ${seal.batch} belongs to ${what}; nothing was done.`, {
      hint: 'Choose where it was begun, with --profile NAME or --url URL.',
    });
  }

  #doubts(): readonly JournalResult[] {
    const numbers = Array.from(this.#states.subarray(0, this.#sent).keys()).filter((number) =>
      this.#isInDoubt(number),
    );
    return numbers.map((number) => ({ number, status: 'unsure', code: null }));
  }

  *#entries(): Generator<KnownEntry> {
    let number = 0;
    for (const id of idsIn(this.#file, this.#size)) {
      yield { id, number, inDoubt: this.#isInDoubt(number) };
      number += 1;
    }
  }

  #isInDoubt(number: number): boolean {
    const state = this.#states[number];
    return state === unsure || (state === unknown && number < this.#sent);
  }

  #take(line: string): void {
    const [, sent] = /^sent (\d+)$/.exec(line) ?? [];
    if (sent !== undefined) this.#sent = Math.max(this.#sent, Number(sent));
    else if (line === 'settled') this.#sent = 0;
    const [, number = '', status = ''] = resultForm.exec(line) ?? [];
    const state = states[status];
    if (state !== undefined && Number(number) < this.#states.length) this.#states[Number(number)] = state;
  }
}

const resultForm = /^(\d+) (deleted|not_found|failed|unsure)(?: \w+)?$/;

/** The seal of a journal; null for a file that is none. */
export function sealOf(path: string): BatchSeal | null {
  const file = openSync(path, 'r');
  try {
    return sealIn(file)?.seal ?? null;
  } finally {
    closeSync(file);
  }
}

/** The distinct ids of a journal, in their order. */
export function* idsOf(path: string): Generator<string> {
  const file = openSync(path, 'r');
  try {
    yield* idsIn(file, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}

function* idsIn(file: number, size: number): Generator<string> {
  for (const line of linesOf(file, 0, size)) {
    if (line.startsWith('\t')) return;
    if (!line.startsWith(' ')) yield line;
  }
}

/** With how many distinct ids, and how many bytes, stand before it. */
function sealIn(
  file: number,
): { readonly seal: BatchSeal; readonly ids: number; readonly bytes: number } | null {
  let ids = 0;
  let bytes = 0;
  for (const line of linesOf(file, 0, fstatSync(file).size)) {
    if (line.startsWith('\t')) {
      const seal = readSeal(line.slice(1));
      return seal === null ? null : { seal, ids, bytes };
    }
    if (!line.startsWith(' ')) ids += 1;
    bytes += Buffer.byteLength(line) + 1;
  }
  return null;
}

function readSeal(text: string): BatchSeal | null {
  try {
    const seal: BatchSeal = JSON.parse(text);
    return seal.version === 1 && Number.isSafeInteger(seal.ids) && typeof seal.origin === 'string'
      ? seal
      : null;
  } catch {
    return null;
  }
}

function noSuchBatch(dataDirectory: string, batch: string): ParleyError {
  return new ParleyError('USAGE', `There is no batch ${quoted(batch)}; nothing was done.`, {
    hint: `The journals of the batches there are lie in ${batchDirectory(dataDirectory)}; a batch is named as its file, without .journal.`,
  });
}
