// Reports a sync: a result line for each session that was changed, the progress, and a summary.
import type { ParleyError } from '../../service/errors.ts';
import { type BatchProgress, progressOn } from '../batch/batch-progress.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../counted.ts';
import { printsEachResult, writeResults } from '../session-batch/batch-report.ts';
import { ExplainedFailures } from '../session-batch/explained-failures.ts';
import type { SyncResult, SyncStatus } from './session-sync.ts';

/** The statuses of a dry run. */
const dryRunStatus: Readonly<Partial<Record<SyncStatus, string>>> = {
  pushed: 'would_push',
  pulled: 'would_pull',
  grown: 'would_grow',
  changed: 'would_change',
  forked: 'would_fork',
  restored: 'would_restore',
  deleted: 'would_delete',
};

export class SyncReport {
  readonly #context: CliContext;
  readonly #dryRun: boolean;
  readonly #showsAll: boolean;
  readonly #progress: BatchProgress;
  readonly #failures: ExplainedFailures;
  #unselected = 0;

  constructor(
    context: CliContext,
    { dryRun = false, verbose = false }: { readonly dryRun?: boolean; readonly verbose?: boolean },
  ) {
    this.#context = context;
    this.#dryRun = dryRun;
    this.#failures = new ExplainedFailures(context, verbose);
    this.#showsAll = printsEachResult(verbose || dryRun, context);
    this.#progress = progressOn(context, {
      end: null,
      unit: 'items',
      outcomes: ['unchanged'],
      resultsApart: !this.#showsAll,
    });
  }

  get finished(): number {
    return this.#progress.finished;
  }

  get failed(): number {
    return this.#progress.count('failed');
  }

  async say(line: string): Promise<void> {
    this.#progress.clear();
    await this.#context.say(line);
  }

  async add(session_id: string, { status: done, at, fork }: SyncResult): Promise<void> {
    if (done === null) return;
    const status = (this.#dryRun ? dryRunStatus[done] : undefined) ?? done;
    if (done === 'waiting') this.#progress.pass(status);
    else this.#progress.finish(status);
    if (done === 'unchanged' || done === 'waiting' || !this.#showsAll) return;
    const result = { session_id, status, ...(at && { at }), ...(fork !== undefined && { fork }) };
    await writeResults([result], this.#context);
  }

  async fail(session_id: string, error: ParleyError): Promise<void> {
    const { code, message } = error;
    this.#progress.finish('failed');
    await writeResults([{ session_id, status: 'failed', error: { code, message } }], this.#context);
    await this.#failures.explain(`Session ${session_id}`, error, () => this.#progress.clear());
  }

  /** Counts a session without the selected tags. */
  skipUnselected(): void {
    this.#unselected += 1;
  }

  stop(): void {
    this.#progress.stop();
  }

  async end(): Promise<void> {
    this.stop();
    const waiting = this.#progress.count('waiting');
    await this.#failures.sumUp();
    await this.say(this.#progress.sentence('session'));
    if (this.#unselected > 0)
      await this.say(`${counted(this.#unselected, 'session')} without the selected tags skipped.`);
    if (waiting > 0)
      await this.say(`${counted(waiting, 'session')} waiting for a sync in the other direction.`);
    if (this.failed > 0) await this.say('To retry the failed sessions, run the same command again.');
  }
}
