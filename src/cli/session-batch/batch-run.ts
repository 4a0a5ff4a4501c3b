// Runs one operation over the ids of a batch: many in a call where the server takes that, else one in a call with several calls at once.
// The failure of an id does not stop the batch; a failure that every other id would share does.
import { setMaxListeners } from 'node:events';
import type { Call } from '../../service/call.ts';
import { type ErrorCode, ParleyError } from '../../service/errors.ts';
import { defaultLimits } from '../../service/limits.ts';
import type { BatchItem } from '../../service/session-archive.ts';
import { runInOrder } from '../batch/ordered-run.ts';
import { Pacer } from '../batch/pacer.ts';
import type { CliHost } from '../cli-host.ts';
import type { BatchReport, ItemResult } from './batch-report.ts';
import type { BatchEntry } from './id-list.ts';
import type { BatchJournal, JournalResult } from './journal.ts';
import { JournalMarks } from './journal-marks.ts';
import { distinctOf, type Task, tasksOf } from './task.ts';

/** One call that did it; `repeated`: it was counted as done, because a repetition of it found no session. */
export interface Single {
  readonly repeated: boolean;
}

export interface BatchWork<Done extends string> {
  /** The status of an id that it was done to. */
  readonly done: Done;
  readonly entries: Iterable<BatchEntry>;
  readonly report: BatchReport;
  readonly journal: BatchJournal | null;
  /** Null where each id takes a call. */
  readonly many: ((call: Call, ids: readonly string[]) => Promise<readonly BatchItem<Done>[]>) | null;
  /** Is also used where `many` turns out to be `UNSUPPORTED`; if it is null, that stops the batch. */
  readonly one: ((call: Call, id: string) => Promise<Single>) | null;
  readonly apiKey: string;
  /** Calls at once, at most. */
  readonly concurrency: number;
  /** A reader of the results that goes away does not stop the batch: only `stopSignal` does. */
  readonly stopSignal: AbortSignal;
  readonly host: Pick<CliHost, 'newRequestId' | 'random'>;
}

/** A stop may take two seconds in all. Calls that are under way get this much of them to end. */
const graceMs = 1200;
/** Results of single ids that come within this time are one write. */
const gatherMs = 20;
/** Calls of many ids at once: the next ones are under way while the results of the last are written. */
const mostBatchCalls = 3;
/** Calls that may wait for the result of a slower one before them: of many ids, and of one. */
const window = { many: 4, one: 50_000 };
/** Failures after which nobody knows whether the server did it. */
const withoutAnswer: ReadonlySet<ErrorCode> = new Set(['NETWORK', 'TIMEOUT', 'BAD_RESPONSE', 'UNAVAILABLE']);

/** Resolves with what stopped it early, null where nothing did. */
export async function runBatch<Done extends string>(
  work: BatchWork<Done>,
): Promise<{ readonly reason: unknown } | null> {
  return new BatchRun(work).run();
}

class BatchRun<Done extends string> {
  readonly #work: BatchWork<Done>;
  readonly #stop = new AbortController();
  /** Fires when `#stop` does, or the `stopSignal` of the work: no call begins then. */
  readonly #signal: AbortSignal;
  /** Cuts the calls that are under way. */
  readonly #cut = new AbortController();
  readonly #marks: JournalMarks | null;
  readonly #pacer: Pacer;
  #many: BatchWork<Done>['many'];

  constructor(work: BatchWork<Done>) {
    const { concurrency, journal, host, stopSignal, report } = work;
    const signal = AbortSignal.any([stopSignal, this.#stop.signal]);
    // Each call under way adds a listener.
    for (const each of [signal, this.#cut.signal]) setMaxListeners(0, each);
    this.#work = work;
    this.#signal = signal;
    this.#marks = journal && new JournalMarks(journal);
    this.#many = work.many;
    const most = work.many === null ? concurrency : Math.min(concurrency, mostBatchCalls);
    this.#pacer = new Pacer({
      most,
      mostUnanswered: Math.max(3, most),
      // To do it twice does no harm.
      mostTries: Number.POSITIVE_INFINITY,
      isTurnedAway: ({ code }) => code === 'RATE_LIMITED' || code === 'UNAVAILABLE',
      giveUp: (error) => this.#stop.abort(error),
      say: (line) => void report.say(line),
      signal,
      random: host.random,
    });
  }

  async run(): Promise<{ readonly reason: unknown } | null> {
    const { entries, concurrency, journal, report } = this.#work;
    const signal = this.#signal;
    let cutting: NodeJS.Timeout | undefined;
    signal.addEventListener('abort', () => {
      cutting = setTimeout(() => this.#cut.abort(), graceMs);
    });
    const isMany = this.#many !== null;
    const idsOfCall = () => (this.#many === null ? 1 : defaultLimits.batchIds);
    await this.#orStop(() =>
      runInOrder<Task, readonly ItemResult[]>(tasksOf(entries, idsOfCall), {
        concurrency: isMany ? Math.min(concurrency, mostBatchCalls) : concurrency,
        window: { items: isMany ? window.many : window.one },
        signal,
        gatherMs: isMany ? 0 : gatherMs,
        run: (task) => this.#do(task),
        write: async (results) => {
          for (const ofTask of results) for (const result of ofTask) report.add(result);
          await this.#tell();
        },
      }),
    );
    clearTimeout(cutting);
    await this.#marks?.settled();
    await this.#orStop(() => journal?.settle());
    await this.#tell();
    return signal.aborted ? { reason: signal.reason } : null;
  }

  /** The journal has a result before the user has it. If one of the two cannot be written, the other is. */
  async #tell(): Promise<void> {
    const { journal, report } = this.#work;
    await this.#orStop(() => journal?.flush());
    await this.#orStop(() => report.flush());
  }

  async #orStop(step: () => Promise<void> | void): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#stop.abort(error);
    }
  }

  /** Never rejects. Resolves with the results that are known, in the order of the task. */
  async #do(task: Task): Promise<readonly ItemResult[]> {
    const isSingle = this.#many === null;
    const sent = distinctOf(task);
    let mayHaveActed = false;
    let isOut = false;
    try {
      await this.#marks?.mark(sent.at(-1)?.number ?? -1, isSingle);
      const items = await this.#pacer.run(async () => {
        isOut = true;
        try {
          return await this.#ask(sent);
        } catch (error) {
          isOut = !(error instanceof ParleyError);
          if (error instanceof ParleyError)
            mayHaveActed ||= error.mayHaveActed || withoutAnswer.has(error.code);
          throw error;
        }
      });
      return this.#record(task, items, mayHaveActed && isSingle);
    } catch (error) {
      const isUnsupported = error instanceof ParleyError && error.code === 'UNSUPPORTED';
      if (isUnsupported && !isSingle && this.#work.one !== null) return this.#oneByOne(task);
      if (!(error instanceof ParleyError) || isUnsupported || this.#pacer.gaveUpOn(error)) {
        this.#stop.abort(error);
        if (isOut || mayHaveActed) this.#doubt(sent);
        return [];
      }
      const { code, message } = error;
      const items = sent.map(({ id }) => ({ session_id: id, status: 'failed', error: { code, message } }));
      return this.#record(task, items, mayHaveActed);
    }
  }

  /** The results of the ids, in their order. */
  async #ask(entries: Task): Promise<readonly ItemResult[]> {
    const { apiKey, host, done, one } = this.#work;
    const call: Call = {
      apiKey,
      signal: this.#cut.signal,
      idempotencyKey: null,
      requestId: host.newRequestId(),
      pacesItself: true,
      showReasoning: false,
    };
    const ids = entries.map(({ id }) => id);
    if (this.#many !== null) return this.#many(call, ids);
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

  /** The server takes no batches after all. */
  async #oneByOne(task: Task): Promise<readonly ItemResult[]> {
    if (this.#many !== null) this.#pacer.allow(this.#work.concurrency);
    this.#many = null;
    const results = await Promise.all([...tasksOf(task, () => 1)].map((single) => this.#do(single)));
    return results.flat();
  }

  /** Whether these were done is not known. */
  #doubt(entries: Task): void {
    this.#work.journal?.record(entries.map(({ number }) => ({ number, status: 'unsure' })));
  }

  /** Notes the results in the journal. Not to be found means to be done for an id that an earlier call may have done. */
  #record(task: Task, items: readonly ItemResult[], mayHaveActed: boolean): readonly ItemResult[] {
    const { journal, done } = this.#work;
    const lines: JournalResult[] = [];
    let next = 0;
    const results = task.map(({ id: session_id, number, inDoubt = false }): ItemResult => {
      if (number < 0) return { session_id, status: 'duplicate' };
      const item = items[next++] ?? { session_id, status: 'failed' };
      const isDoubtful = inDoubt || mayHaveActed;
      const wasDone = item.status === 'not_found' && isDoubtful;
      const status = item.status === 'failed' && isDoubtful ? 'unsure' : wasDone ? done : item.status;
      lines.push({ number, status });
      return wasDone ? { session_id, status: done, repeated: true } : item;
    });
    journal?.record(lines);
    return results;
  }
}
