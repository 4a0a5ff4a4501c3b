// Reports an import: result lines, progress, and at the end how to undo the import and how to continue the newest session.
import { basename } from 'node:path';
import type { ParleyError } from '../../../service/errors.ts';
import { quoted } from '../../../service/quoted.ts';
import { quoteForShell } from '../../../system/shell-quote.ts';
import { type BatchProgress, progressOn } from '../../batch/batch-progress.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { exitDone, exitSomeFailed, exitStatusOf } from '../../exit-codes.ts';
import { type ImportItem, recordId } from '../../imports/import-item.ts';
import type { SessionImport } from '../../imports/session-import.ts';
import {
  type ItemResult,
  maxShown,
  printsEachResult,
  writeResults,
} from '../../session-batch/batch-report.ts';
import { ExplainedFailures } from '../../session-batch/explained-failures.ts';
import { oneLine } from '../../terminal/filter.ts';
import { commandAtTarget } from './batch.ts';
import type { ImportPlan } from './import-plan.ts';

/** The statuses of sessions that need no attention. A terminal shows their lines only with `--verbose`. */
const unremarkable: readonly string[] = ['imported', 'unchanged', 'grown', 'would_import', 'would_grow'];

/** The result of an item: what was done with its session, or why that failed. */
export interface Outcome {
  readonly item: ImportItem;
  readonly intake: SessionImport | null;
  readonly error: ParleyError | null;
}

export class ImportReport {
  readonly #plan: ImportPlan;
  readonly #context: CliContext;
  readonly #progress: BatchProgress;
  readonly #showsAll: boolean;
  readonly #failures: ExplainedFailures;
  /** The end of the last item, if the progress counts bytes. */
  #position = 0;
  readonly #unknown = new SkippedFiles();
  readonly #companions = new SkippedFiles();
  readonly #archives = new SkippedFiles();
  readonly #innerArchives = new SkippedFiles();
  #excluded = 0;
  #results: ItemResult[] = [];
  /** The number of lines of sessions that need attention. A terminal shows the first ones. */
  #shown = 0;
  /** The exit status of the last failure. */
  #lastStatus = 0;
  /** True if a failure may pass. A failure of the input stays until the file changes. */
  #mayRetry = false;
  #links = 0;
  /** The session with the newest message. */
  #newest: { readonly id: string; readonly title: string | null; readonly time: string } | null = null;

  constructor(plan: ImportPlan, context: CliContext) {
    this.#plan = plan;
    this.#context = context;
    this.#failures = new ExplainedFailures(context, plan.verbose);
    this.#showsAll = printsEachResult(plan.verbose || plan.dryRun, context);
    this.#progress = progressOn(context, {
      end: plan.bytes,
      unit: plan.bytes === null ? 'items' : 'bytes',
      outcomes: [plan.dryRun ? 'would_import' : 'imported'],
      resultsApart: !this.#showsAll,
    });
  }

  get exitStatus(): number {
    if (this.#failed === 0) return exitDone;
    return this.#progress.finished === 1 ? this.#lastStatus : exitSomeFailed;
  }

  async say(line: string): Promise<void> {
    this.#progress.clear();
    await this.#context.say(line);
  }

  /** Counts a file that was skipped: a companion file of an export, an archive in a directory, or one that no source recognises. */
  skip(path: string, isCompanion: boolean): void {
    if (isCompanion) this.#companions.add(basename(path));
    else if (/\.zip\/.*\.zip$/i.test(path)) this.#innerArchives.add(path);
    else if (/\.zip$/i.test(path)) this.#archives.add(path);
    else this.#unknown.add(path);
  }

  /** Counts a conversation that the options exclude. */
  exclude(): void {
    this.#excluded += 1;
  }

  async add({ item, intake, error }: Outcome): Promise<void> {
    if (intake?.reason === 'link') {
      this.#links += 1;
      return;
    }
    const session = 'session' in item.found ? item.found.session : null;
    const { origin, place } = item;
    const session_id = intake?.session_id || recordId(session?.record) || origin?.id || place;
    const status = error === null ? this.#statusOf(intake?.status ?? 'failed') : 'failed';
    this.#progress.finish(status, this.#plan.bytes === null ? undefined : this.#position, this.#endOf(item));
    this.#position = item.end;
    if (session !== null && origin !== null && unremarkable.includes(status))
      this.#remember(session_id, session.record.session);
    if (!this.#showsAll && unremarkable.includes(status)) return;
    this.#shown += 1;
    if (error !== null) {
      this.#lastStatus = exitStatusOf(error.code);
      this.#mayRetry ||= error.kind !== 'input';
    }
    if (!this.#showsAll && this.#shown > maxShown) return;
    const result = {
      session_id,
      status,
      ...(intake?.reason !== undefined && { reason: intake.reason }),
      ...(intake?.fork_of !== undefined && { fork_of: intake.fork_of }),
      ...(origin !== null && { source: origin.source, source_id: origin.id }),
      ...(error !== null && { error: { code: error.code, message: error.message } }),
    };
    this.#results.push(result);
    if (error !== null)
      await this.#failures.explain(`At ${oneLine(place)}`, error, () => this.#beforeNotice());
  }

  /** Writes the results that were added since the last call. */
  async flush(): Promise<void> {
    if (this.#results.length === 0) return;
    const results = this.#results;
    this.#results = [];
    this.#progress.clear();
    await writeResults(results, this.#context);
  }

  async #beforeNotice(): Promise<void> {
    await this.flush();
    this.#progress.clear();
  }

  stop(): void {
    this.#progress.stop();
  }

  /** Prints how to resume an import that was stopped. The line is part of the failure, so `--quiet` keeps it. */
  async reportStop(): Promise<void> {
    this.stop();
    const batch = this.#plan.creations.batch;
    if (batch === null) return;
    const resume = commandAtTarget(`sessions import --resume ${batch}`, this.#context.options);
    await this.#context.stderr.write(`Stopped. To resume: ${resume}\n`);
  }

  async end(): Promise<void> {
    const { options } = this.#context;
    const unshown = this.#showsAll ? 0 : this.#shown - maxShown;
    if (unshown > 0) await this.say(`… and ${unshown} more; --verbose shows all.`);
    if (this.#progress.finished > 1 || (!this.#showsAll && this.#progress.finished > 0))
      await this.say(this.#progress.sentence(this.#plan.dryRun ? 'conversation' : 'session'));
    await this.#failures.sumUp();
    if (this.#mayRetry && !this.#plan.dryRun)
      await this.say(
        'To retry the failed sessions, run the same command again: imported sessions stay as they are.',
      );
    if (this.#excluded > 0)
      await this.say(`${counted(this.#excluded, 'conversation')} excluded by the options.`);
    if (this.#progress.finished === 0 && this.#excluded === 0) await this.say('No conversation was found.');
    const companions = this.#companions.summary('without conversations skipped');
    if (companions !== null) await this.say(companions);
    const { first: archive, count } = this.#archives;
    if (archive !== null) {
      const command = commandAtTarget(`sessions import ${quoteForShell(archive)}`, options);
      const which = count === 1 ? 'it' : 'the first';
      await this.say(
        `${counted(count, 'archive')} in a directory not opened. To import ${which}: ${command}`,
      );
    }
    const unknown = this.#unknown.summary('not recognised and skipped');
    if (unknown !== null) await this.say(`${unknown} Use --from to name the source.`);
    const inner = this.#innerArchives.summary('in an archive not opened');
    if (inner !== null) await this.say(`${inner} To import an archive in another one, extract it first.`);
    if (this.#links > 0) await this.say(`${counted(this.#links, 'link')} not followed.`);
    if (this.#plan.dryRun) return;
    const batch = this.#plan.creations.batch;
    if (batch !== null && this.#newest !== null)
      await this.say(`To undo it: ${commandAtTarget(`sessions restore --batch ${batch}`, options)}`);
    if (this.#newest === null) return;
    const { id, title } = this.#newest;
    const words = commandAtTarget(`chat -s ${id}`, options);
    await this.say(`The newest is ${title === null ? id : quoted(title)}. To continue it: ${words} "…"`);
  }

  get #failed(): number {
    return this.#progress.count('failed');
  }

  #statusOf(status: string): string {
    if (!this.#plan.dryRun) return status;
    if (status === 'imported') return 'would_import';
    return status === 'grown' ? 'would_grow' : status;
  }

  #endOf({ end }: ImportItem): number | undefined {
    return this.#plan.bytes === null ? undefined : end;
  }

  #remember(
    id: string,
    { title, updated_at: time }: { readonly title: string | null; readonly updated_at: string },
  ): void {
    if (this.#newest === null || time > this.#newest.time) this.#newest = { id, title, time };
  }
}

/** The number of files that were skipped for one reason, and the first of them. */
class SkippedFiles {
  count = 0;
  first: string | null = null;

  add(path: string): void {
    this.count += 1;
    this.first ??= path;
  }

  /** Null if there is none. */
  summary(reason: string): string | null {
    if (this.first === null) return null;
    return `${counted(this.count, 'file')} ${reason}: ${quoted(this.first)}${this.count > 1 ? ', …' : ''}.`;
  }
}
