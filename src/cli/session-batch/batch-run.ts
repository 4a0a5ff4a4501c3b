// Runs one operation over the ids of a batch: many ids per call if the server supports it, otherwise one id per call, several in parallel. The
// failure of one id does not stop the batch; a failure that every other id would have, too, does.
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from '../../service/call.ts';
import { type ErrorCode, hasCode, ParleyError } from '../../service/errors.ts';
import { defaultLimits } from '../../service/limits.ts';
import { beforeAbort } from '../../system/before-abort.ts';
import { runInOrder } from '../batch/ordered-run.ts';
import { Pacer } from '../batch/pacer.ts';
import type { CliHost } from '../cli-host.ts';
import type { BatchReport, ItemResult } from './batch-report.ts';
import type { BatchEntry } from './id-list.ts';
import type { BatchJournal, JournalResult } from './journal.ts';
import { JournalMarks } from './journal-marks.ts';
import { distinctOf, lastNumberOf, type Task, tasksOf } from './task.ts';

/** The result of a call for one id. `repeated` is true if the id counts as done because a repeated call did not find the session. */
interface SingleResult {
  readonly repeated: boolean;
}

export interface BatchWork {
  /** The status of an id after a success. */
  readonly done: string;
  /** True if an id is not found any more once it is done. After a lost response, a missing id then counts as done. */
  readonly isMissingWhenDone: boolean;
  /**
   * The batch name to make idempotency keys from, so that a repeated call returns the original response with what it changed. Null if calls
   * need no keys.
   */
  readonly keys: string | null;
  readonly entries: Iterable<BatchEntry>;
  readonly report: BatchReport;
  readonly journal: BatchJournal | null;
  /** Null if each id needs its own call. */
  readonly runMany: ((call: Call, ids: readonly string[]) => Promise<readonly ItemResult[]>) | null;
  /** Also used if `runMany` fails with `UNSUPPORTED`; null stops the batch in that case. */
  readonly runOne: ((call: Call, id: string) => Promise<SingleResult>) | null;
  readonly apiKey: string;
  /** The most calls at once. */
  readonly concurrency: number;
  /** The only signal that stops the batch: it continues if the reader of the results goes away. */
  readonly stopSignal: AbortSignal;
  readonly host: Pick<CliHost, 'newRequestId' | 'random'>;
  /** The URL of the server; null for the embedded service. */
  readonly url: string | null;
}

/** How long (ms) running calls may continue after a stop, which may take two seconds in total. */
const graceMs = 1200;
/** How long (ms) the end of a batch waits until the last results are read. */
const readingMs = 300;
/** Results of single ids within this time (ms) are written together. */
const gatherMs = 20;
/** How many calls of many ids run at once: the next ones run while earlier results are written. */
const maxBatchCalls = 3;
/** How many calls may wait for the result of a slower earlier one: calls of many ids, and calls of one. */
const window = { many: 4, one: 50_000 };
/** After these failures it is unknown whether the server did the work. */
const unknownOutcomes: ReadonlySet<ErrorCode> = new Set([
  'NETWORK',
  'TIMEOUT',
  'BAD_RESPONSE',
  'UNAVAILABLE',
]);

/** Resolves to the failure that stopped the batch early, or null. */
export async function runBatch(work: BatchWork): Promise<{ readonly reason: unknown } | null> {
  return new BatchRun(work).run();
}

interface TaskResult {
  readonly items: readonly ItemResult[];
  /** The number of the last id of the task. */
  readonly last: number;
}

class BatchRun {
  readonly #work: BatchWork;
  readonly #stop = new AbortController();
  /** Fires with `#stop` or the `stopSignal` of the work. No call begins afterwards. */
  readonly #signal: AbortSignal;
  /** Aborts the running calls. */
  readonly #abort = new AbortController();
  readonly #marks: JournalMarks | null;
  readonly #pacer: Pacer;
  #runMany: BatchWork['runMany'];
  /** The results of the ids before this number were given to the report. */
  #reported = 0;
  /** The results before this number are known to be printed. */
  #printed = 0;
  #marking: Promise<void> | null = null;
  #isOver = false;

  constructor(work: BatchWork) {
    const { concurrency, journal, host, stopSignal, report } = work;
    const signal = AbortSignal.any([stopSignal, this.#stop.signal]);
    // Each running call adds a listener to the signals.
    setMaxListeners(0, signal, this.#abort.signal);
    this.#work = work;
    this.#signal = signal;
    this.#marks = journal && new JournalMarks(journal);
    this.#runMany = work.runMany;
    const maxCalls = work.runMany === null ? concurrency : Math.min(concurrency, maxBatchCalls);
    this.#pacer = new Pacer({
      maxConcurrency: maxCalls,
      maxUnanswered: Math.max(3, maxCalls),
      giveUp: (error) => this.#stop.abort(error),
      say: (line) => void report.say(line),
      signal,
      random: host.random,
    });
    const refusal = () => this.#pacer.refusalOf(work.url);
    report.progress.waitsFor(() => this.#pacer.pauseMs, refusal);
  }

  async run(): Promise<{ readonly reason: unknown } | null> {
    const { entries, concurrency, journal, report } = this.#work;
    const signal = this.#signal;
    let abortTimer: NodeJS.Timeout | undefined;
    signal.addEventListener('abort', () => {
      abortTimer = setTimeout(() => this.#abort.abort(), graceMs);
    });
    journal?.recordPrinted(0);
    const isMany = this.#runMany !== null;
    const idsOfCall = () => (this.#runMany === null ? 1 : defaultLimits.batchIds);
    await this.#stopOnFailure(() =>
      runInOrder<Task, TaskResult>(tasksOf(entries, idsOfCall), {
        concurrency: isMany ? Math.min(concurrency, maxBatchCalls) : concurrency,
        window: { items: isMany ? window.many : window.one },
        signal,
        gatherMs: isMany ? 0 : gatherMs,
        run: async (task) => ({ items: await this.#runTask(task), last: lastNumberOf(task) }),
        write: async (results) => {
          for (const { items, last } of results) {
            for (const item of items) report.add(item);
            this.#reported = Math.max(this.#reported, last + 1);
          }
          await this.#flush();
        },
      }),
    );
    clearTimeout(abortTimer);
    await this.#marks?.settle();
    await this.#stopOnFailure(() => journal?.settle());
    await this.#flush();
    await Promise.race([this.#markPrinted(), delay(readingMs, null, { ref: false })]);
    this.#isOver = true;
    return signal.aborted ? { reason: signal.reason } : null;
  }

  /** The journal gets each result before the user does. If one of the two cannot be written, the other still is. */
  async #flush(): Promise<void> {
    const { journal, report } = this.#work;
    await this.#stopOnFailure(() => journal?.flush());
    await this.#stopOnFailure(() => report.flush());
    this.#marking ??= this.#markPrinted().finally(() => {
      this.#marking = null;
    });
  }

  /** Records what was printed, once the system has taken it. The batch does not wait for a slow reader. */
  async #markPrinted(): Promise<void> {
    const { journal, report } = this.#work;
    while (journal !== null && this.#printed < this.#reported) {
      const printed = this.#reported;
      if (!(await report.isPrinted()) || this.#isOver) return;
      this.#printed = printed;
      await this.#stopOnFailure(() => {
        journal.recordPrinted(printed);
        journal.flush();
      });
    }
  }

  async #stopOnFailure(step: () => Promise<void> | void): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#stop.abort(error);
    }
  }

  /** Resolves to the known results in the order of the task; never rejects. */
  async #runTask(task: Task): Promise<readonly ItemResult[]> {
    const isSingle = this.#runMany === null;
    const sent = distinctOf(task);
    let mayHaveActed = false;
    let isInFlight = false;
    try {
      // A full disk fails every other id, too.
      await this.#marks?.mark(lastNumberOf(task), isSingle);
    } catch (error) {
      this.#stop.abort(error);
      return [];
    }
    try {
      const items = await this.#pacer.run(async () => {
        isInFlight = true;
        try {
          return await this.#send(sent);
        } catch (error) {
          isInFlight = !(error instanceof ParleyError);
          if (error instanceof ParleyError)
            mayHaveActed ||= error.mayHaveActed || unknownOutcomes.has(error.code);
          throw error;
        }
      });
      return this.#record(task, items, mayHaveActed && isSingle);
    } catch (error) {
      const isUnsupported = hasCode(error, 'UNSUPPORTED');
      if (isUnsupported && !isSingle && this.#work.runOne !== null) return this.#oneByOne(task);
      if (!(error instanceof ParleyError) || isUnsupported || this.#pacer.isFatal(error)) {
        this.#stop.abort(error);
        if (isInFlight || mayHaveActed) this.#markUnsure(sent);
        return [];
      }
      const { code, message } = error;
      const items = sent.map(({ id }) => ({ session_id: id, status: 'failed', error: { code, message } }));
      return this.#record(task, items, mayHaveActed);
    }
  }

  /** The results of the ids, in their order. */
  async #send(entries: Task): Promise<readonly ItemResult[]> {
    const { apiKey, host, done, runOne, keys } = this.#work;
    const call: Call = {
      apiKey,
      signal: this.#abort.signal,
      idempotencyKey: keys === null ? null : `${keys}-${entries[0]?.number}-${entries.length}`,
      requestId: host.newRequestId(),
      pacesItself: true,
      showReasoning: false,
    };
    const ids = entries.map(({ id }) => id);
    // A database that does not answer ignores the signal.
    const stoppable = <T>(work: Promise<T>) => beforeAbort(work, this.#abort.signal);
    if (this.#runMany !== null) return stoppable(this.#runMany(call, ids));
    if (runOne === null) throw new TypeError('There is no call for one id.');
    const [session_id = ''] = ids;
    try {
      const { repeated } = await stoppable(runOne(call, session_id));
      return [{ session_id, status: done, ...(repeated && { repeated }) }];
    } catch (error) {
      if (!hasCode(error, 'SESSION_NOT_FOUND')) throw error;
      return [{ session_id, status: 'not_found' }];
    }
  }

  /** Used if the server turns out not to support calls with many ids. */
  async #oneByOne(task: Task): Promise<readonly ItemResult[]> {
    if (this.#runMany !== null) this.#pacer.setConcurrency(this.#work.concurrency);
    this.#runMany = null;
    const results = await Promise.all([...tasksOf(task, () => 1)].map((single) => this.#runTask(single)));
    return results.flat();
  }

  /** Marks ids whose result is unknown. */
  #markUnsure(entries: Task): void {
    this.#work.journal?.record(entries.map(({ number }) => ({ number, status: 'unsure' })));
  }

  /** Records the results in the journal. An id that is not found counts as done if an earlier call may have done it. */
  #record(task: Task, items: readonly ItemResult[], mayHaveActed: boolean): readonly ItemResult[] {
    const { journal, done } = this.#work;
    const lines: JournalResult[] = [];
    let next = 0;
    const results = task.map(({ id: session_id, number, isInDoubt = false }): ItemResult => {
      if (number < 0) return { session_id, status: 'duplicate' };
      const item = items[next++] ?? { session_id, status: 'failed' };
      const isDoubtful = isInDoubt || mayHaveActed;
      if (item.status === 'not_found' && isDoubtful && this.#work.isMissingWhenDone) {
        lines.push({ number, status: done });
        return { session_id, status: done, repeated: true };
      }
      const status = item.status === 'failed' && isDoubtful ? 'unsure' : item.status;
      lines.push({ number, status, ...(item.changed && { changed: item.changed }) });
      return item;
    });
    journal?.record(lines);
    return results;
  }
}
