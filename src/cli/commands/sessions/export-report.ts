// Reports an export: the progress, a result line for each session, and a summary.
import type { ParleyError } from '../../../service/errors.ts';
import { type BatchProgress, progressOn } from '../../batch/batch-progress.ts';
import type { CliContext } from '../../context.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import { type ItemResult, printsEachResult, writeResults } from '../../session-batch/batch-report.ts';
import { ExplainedFailures } from '../../session-batch/explained-failures.ts';
import type { ExportPlace } from '../../transcripts/export-place.ts';

export interface ExportReportOptions {
  /** The number of sessions to export. */
  readonly sessions: number;
  readonly place: ExportPlace;
  /** False if stdout gets the sessions themselves, so that it has no result lines. */
  readonly writesResults: boolean;
  /** True for a result line for each session, even at a terminal. */
  readonly verbose: boolean;
}

export class ExportReport {
  readonly #options: ExportReportOptions;
  readonly #context: CliContext;
  readonly #progress: BatchProgress;
  readonly #showsAll: boolean;
  readonly #failures: ExplainedFailures;
  /** The results that wait until their file is complete. */
  #results: ItemResult[] = [];

  constructor(options: ExportReportOptions, context: CliContext) {
    const { sessions, place, writesResults, verbose } = options;
    this.#options = options;
    this.#context = context;
    this.#showsAll = printsEachResult(verbose, context);
    this.#failures = new ExplainedFailures(context, verbose);
    this.#progress = progressOn(context, {
      end: sessions,
      unit: 'items',
      outcomes: ['exported'],
      resultsApart: writesResults && !(this.#showsAll && place.keepsEach),
    });
  }

  /** True if there is no session to export. */
  get isEmpty(): boolean {
    return this.#options.sessions === 0;
  }

  get exitStatus(): number {
    return this.#progress.count('failed') > 0 ? exitSomeFailed : exitDone;
  }

  /** `file` is null for standard output. */
  async add(session_id: string, file: string | null): Promise<void> {
    this.#progress.finish('exported');
    if (file !== null && this.#showsAll) await this.#addResult({ session_id, status: 'exported', file });
  }

  async addFailure(session_id: string, error: ParleyError): Promise<void> {
    this.#progress.finish('failed');
    const { code, message } = error;
    const status = code === 'SESSION_NOT_FOUND' ? 'not_found' : 'failed';
    if (this.#options.writesResults) await this.#addResult({ session_id, status, error: { code, message } });
    await this.#failures.explain(`Session ${session_id}`, error, () => this.#progress.clear());
  }

  stop(): void {
    this.#progress.stop();
  }

  /** Writes the results of sessions whose file is now complete. */
  async flush(): Promise<void> {
    const results = this.#results;
    this.#results = [];
    if (results.length > 0) await writeResults(results, this.#context);
  }

  async summarize(): Promise<void> {
    await this.#failures.sumUp();
    if (this.#options.writesResults || this.#progress.count('failed') > 0)
      await this.#context.say(this.#progress.sentence('session'));
  }

  /** One file for all sessions is complete only at the end. */
  async #addResult(result: ItemResult): Promise<void> {
    this.#results.push(result);
    if (this.#options.place.keepsEach) await this.flush();
  }
}
