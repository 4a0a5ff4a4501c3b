// Runs one operation over the ids of a batch: many a call where the server takes that, else one a call with several calls at
// once; slower when it is told to; past failures of single ids, and to a stop when going on is of no use.
import { setMaxListeners } from 'node:events';
import type { Call } from '../../service/call.ts';
import { ParleyError } from '../../service/errors.ts';
import { defaultLimits } from '../../service/limits.ts';
import type { BatchItem } from '../../service/session-archive.ts';
import type { BatchReport, ItemResult } from './batch-report.ts';
import type { BatchJournal } from './journal.ts';
import { JournalMarks } from './journal-marks.ts';
import { Pacer } from './pacer.ts';
import { idsOf, numbersOf, type RunEntry, type Task, TaskSource } from './task.ts';

/** One call that did it; `repeated`: counted as its doing, for a repetition of it found no session. */
export interface Single {
  readonly repeated: boolean;
}

export interface BatchWork<Done extends string> {
  /** The word for an id that it was done to. */
  readonly done: Done;
  readonly entries: Iterable<RunEntry>;
  readonly report: BatchReport;
  readonly journal: BatchJournal | null;
  /** Null where ids go one a call. */
  readonly many: ((call: Call, ids: readonly string[]) => Promise<readonly BatchItem<Done>[]>) | null;
  /** Where `many` turns out to be `UNSUPPORTED`, too; null: then nothing is done. */
  readonly one: ((call: Call, id: string) => Promise<Single>) | null;
  readonly apiKey: string;
  readonly newRequestId: () => string;
  /** Calls at once, at most. */
  readonly concurrency: number;
  readonly now: () => number;
  readonly random: () => number;
  readonly stopSignal: AbortSignal;
}

/** What calls on their way get to end by themselves after a stop, of the two seconds that it may take. */
const graceMs = 1200;
/** Results are told at once as people take it, not each by itself: new calls go first. */
const tellMs = 20;
/** Batch calls at once: the next is under way while the last is being written. */
const mostBatchCalls = 3;
const longestWaitSeconds = 600;
/** Failures in which the server may have done it, and nobody heard. */
const withoutAnswer: ReadonlySet<string> = new Set(['NETWORK', 'TIMEOUT', 'BAD_RESPONSE']);

/** Resolves with what stopped it early, null where nothing did. */
export async function runBatch<Done extends string>(
  work: BatchWork<Done>,
): Promise<{ readonly reason: unknown } | null> {
  return new BatchRun(work).run();
}

class BatchRun<Done extends string> {
  readonly #work: BatchWork<Done>;
  readonly #calls = new AbortController();
  readonly #source: TaskSource;
  readonly #marks: JournalMarks | null;
  #many: BatchWork<Done>['many'];
  #pacer: Pacer;
  #again: Task[] = [];
  #running = 0;
  #stopped: { readonly reason: unknown } | null = null;
  #wake = () => {};
  #told = 0;
  #telling: NodeJS.Timeout | undefined;

  constructor(work: BatchWork<Done>) {
    this.#work = work;
    this.#source = new TaskSource(work.entries);
    this.#marks = work.journal && new JournalMarks(work.journal, (error) => this.#stop(error));
    this.#many = work.many;
    this.#pacer = this.#newPacer();
    // One for each call that runs.
    setMaxListeners(0, this.#calls.signal);
  }

  async run(): Promise<{ readonly reason: unknown } | null> {
    const { stopSignal, now } = this.#work;
    const interrupt = () => this.#stop(stopSignal.reason);
    stopSignal.addEventListener('abort', interrupt);
    if (stopSignal.aborted) interrupt();
    try {
      while (this.#stopped === null) {
        if (now() - this.#told >= tellMs) await this.#tell();
        if (this.#stopped !== null) break;
        const { limit, pauseMs } = this.#pacer;
        if (pauseMs > 0 || this.#running >= limit) {
          await this.#change(pauseMs);
          continue;
        }
        const task =
          this.#again.shift() ?? this.#source.next(this.#many === null ? 1 : defaultLimits.batchIds);
        if (task !== null) await this.#start(task);
        else if (this.#running > 0) await this.#change(0);
        else break;
      }
    } catch (error) {
      this.#stop(error);
    } finally {
      stopSignal.removeEventListener('abort', interrupt);
    }
    await this.#settle();
    return this.#stopped;
  }

  /** The first reason counts. */
  #stop(reason: unknown): void {
    this.#stopped ??= { reason };
    this.#wake();
  }

  /** Calls on their way may end, for a moment; then they are cut, and the journal has them as sent. */
  async #settle(): Promise<void> {
    const cut = setTimeout(() => this.#calls.abort(this.#stopped?.reason), graceMs);
    while (this.#running > 0) await this.#change(0);
    clearTimeout(cut);
    await this.#marks?.settled();
    // What was turned away may have been done all the same, by a server behind the one that said so.
    this.#doubt(this.#again.filter(({ mayHaveActed }) => mayHaveActed));
    // The journal may be what stopped it, or the reader of the results: what was done is told as far as can be.
    for (const last of [() => this.#work.journal?.settle(), () => this.#tell()]) {
      try {
        await last();
      } catch (error) {
        this.#stop(error);
      }
    }
  }

  /** What has come, to the journal first, then to the user. */
  async #tell(): Promise<void> {
    const { journal, report, now } = this.#work;
    this.#told = now();
    journal?.flush();
    await report.flush();
  }

  /** Resolves when a call has ended, when it is to stop, after a pause, or when there are results to be told. */
  async #change(pauseMs: number): Promise<void> {
    // One timer for all the calls that end before the results are told.
    if (this.#work.report.hasNews) {
      this.#telling ??= setTimeout(() => {
        this.#telling = undefined;
        this.#wake();
      }, tellMs);
    }
    const pause = pauseMs > 0 ? setTimeout(() => this.#wake(), pauseMs) : undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    clearTimeout(pause);
  }

  async #start(task: Task): Promise<void> {
    const last = Math.max(-1, ...numbersOf(task));
    if (last >= 0 && this.#marks?.isAhead(last) === false) await this.#marks.mark(last, this.#many === null);
    if (this.#stopped !== null) return;
    this.#running += 1;
    void this.#do(task)
      .catch((error: unknown) => this.#stop(error))
      .then(() => {
        this.#running -= 1;
        this.#wake();
      });
  }

  async #do(task: Task): Promise<void> {
    const begun = this.#work.now();
    const ids = idsOf(task);
    const many = this.#many;
    try {
      const items = ids.length === 0 ? [] : await this.#ask(many, ids);
      this.#pacer.answered();
      this.#record(task, items);
    } catch (error) {
      const isUnsupported = error instanceof ParleyError && error.code === 'UNSUPPORTED';
      if (isUnsupported && many !== null && this.#work.one !== null) this.#oneByOne(task);
      else this.#failed(task, error, begun);
    }
  }

  /** One result per id, in order. */
  async #ask(many: BatchWork<Done>['many'], ids: readonly string[]): Promise<readonly ItemResult[]> {
    const { apiKey, newRequestId, done, one } = this.#work;
    const { signal } = this.#calls;
    const call: Call = {
      apiKey,
      signal,
      idempotencyKey: null,
      requestId: newRequestId(),
      pacesItself: true,
      showReasoning: false,
    };
    if (many !== null) return many(call, ids);
    if (one === null) throw new TypeError('There is no call for one id.');
    const [session_id = ''] = ids;
    try {
      const { repeated } = await one(call, session_id);
      return [{ session_id, status: done, ...(repeated && { repeated }) }];
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'SESSION_NOT_FOUND') throw error;
      return [{ session_id, status: 'not_found' }];
    }
  }

  #failed(task: Task, error: unknown, begun: number): void {
    if (!(error instanceof ParleyError)) {
      this.#doubt([task]);
      this.#stop(error);
      return;
    }
    const { code, message } = error;
    const tried = { ...task, mayHaveActed: task.mayHaveActed || error.mayHaveActed };
    if (code === 'RATE_LIMITED' || code === 'UNAVAILABLE') {
      this.#turnedAway(tried, error, begun);
      return;
    }
    const { kind } = error;
    if (kind === 'key' || kind === 'store' || code === 'UNSUPPORTED') {
      if (tried.mayHaveActed) this.#doubt([tried]);
      this.#stop(error);
      return;
    }
    if (kind === 'transient') this.#pacer.failed();
    else this.#pacer.answered();
    this.#record(
      { ...tried, mayHaveActed: tried.mayHaveActed || withoutAnswer.has(code) },
      idsOf(task).map((session_id) => ({ session_id, status: 'failed', error: { code, message } })),
    );
    if (this.#pacer.isHopeless) this.#stop(error);
  }

  /** Whether these were done is not known. */
  #doubt(tasks: readonly Task[]): void {
    const numbers = tasks.flatMap(numbersOf);
    this.#work.journal?.record(numbers.map((number) => ({ number, status: 'unsure', code: null })));
  }

  #turnedAway(task: Task, error: ParleyError, begun: number): void {
    const { retryAfter, code } = error;
    const isNews = this.#pacer.turnedAway(begun, retryAfter);
    if (this.#pacer.isHopeless || (retryAfter ?? 0) > longestWaitSeconds) {
      this.#doubt(task.mayHaveActed || code === 'UNAVAILABLE' ? [task] : []);
      this.#stop(error);
      return;
    }
    this.#again.push({ ...task, mayHaveActed: task.mayHaveActed || code === 'UNAVAILABLE' });
    if (!isNews || (retryAfter ?? 0) < 2) return;
    const limit = this.#many === null ? `, then ${this.#pacer.limit} calls at once` : '';
    void this.#work.report.say(`The server asks to wait ${retryAfter} s: waiting${limit}.`);
  }

  /** The server takes no batches after all. */
  #oneByOne(task: Task): void {
    if (this.#many !== null) {
      this.#many = null;
      this.#pacer = this.#newPacer();
    }
    this.#again.push(...task.entries.map((entry) => ({ entries: [entry], mayHaveActed: false })));
  }

  #newPacer(): Pacer {
    const { concurrency, now, random } = this.#work;
    return new Pacer({
      most: this.#many === null ? concurrency : Math.min(concurrency, mostBatchCalls),
      now,
      random,
    });
  }

  #record(task: Task, items: readonly ItemResult[]): void {
    const { journal, report, done } = this.#work;
    const results: { number: number; status: string; code: string | null }[] = [];
    let next = 0;
    for (const { id, number, inDoubt } of task.entries) {
      if (number < 0) {
        report.add({ session_id: id, status: 'duplicate' });
        continue;
      }
      const item = items[next++] ?? { session_id: id, status: 'failed' };
      const wasDone =
        item.status === 'not_found' && (inDoubt === true || (task.mayHaveActed && this.#many === null));
      const result: ItemResult = wasDone ? { session_id: id, status: done, repeated: true } : item;
      const isDoubtful = result.status === 'failed' && (inDoubt === true || task.mayHaveActed);
      results.push({ number, status: isDoubtful ? 'unsure' : result.status, code: item.error?.code ?? null });
      report.add(result);
    }
    journal?.record(results);
  }
}
