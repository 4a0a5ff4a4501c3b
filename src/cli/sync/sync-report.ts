// Shows a sync to the user: a result line for each session with which something was done, the progress, and a summary.
import type { ParleyError } from '../../service/errors.ts';
import { type BatchProgress, progressOn } from '../batch/batch-progress.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../counted.ts';
import { writeResults } from '../session-batch/batch-report.ts';
import type { Synced, SyncStatus } from './session-sync.ts';

/** What would be done, for a dry run. */
const wouldBe: Readonly<Partial<Record<SyncStatus, string>>> = {
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
  #leftOut = 0;

  constructor(
    context: CliContext,
    { dryRun, verbose }: { readonly dryRun: boolean; readonly verbose: boolean },
  ) {
    const { options, stdout } = context;
    this.#context = context;
    this.#dryRun = dryRun;
    this.#showsAll = verbose || dryRun || options.json || !stdout.isTerminal;
    this.#progress = progressOn(context, {
      ...{ end: null, unit: 'items', outcomes: ['unchanged'] },
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

  async add(session_id: string, { status: done, at, fork }: Synced): Promise<void> {
    if (done === null) return;
    const status = (this.#dryRun ? wouldBe[done] : undefined) ?? done;
    if (done === 'waiting') this.#progress.pass(status);
    else this.#progress.finish(status);
    if (done === 'unchanged' || done === 'waiting' || !this.#showsAll) return;
    const result = { session_id, status, ...(at && { at }), ...(fork !== undefined && { fork }) };
    await writeResults([result], this.#context);
  }

  async fail(session_id: string, { code, message }: ParleyError): Promise<void> {
    this.#progress.finish('failed');
    await writeResults([{ session_id, status: 'failed', error: { code, message } }], this.#context);
  }

  /** A session without the tags that were asked for. */
  leaveOut(): void {
    this.#leftOut += 1;
  }

  stop(): void {
    this.#progress.stop();
  }

  async end(): Promise<void> {
    this.stop();
    const waiting = this.#progress.count('waiting');
    await this.say(this.#progress.sentence('session'));
    if (this.#leftOut > 0) await this.say(`${counted(this.#leftOut, 'session')} left out as asked.`);
    if (waiting > 0)
      await this.say(`${counted(waiting, 'session')} wait for the other direction, which was left out.`);
    if (this.failed > 0) await this.say('To try the failed again, give the same command again.');
  }
}
