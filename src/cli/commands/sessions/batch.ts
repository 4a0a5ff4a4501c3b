// What deleting and restoring have in common: one id by itself, or many as a batch, and what is told when that has ended.
import type { Backend } from '../../../service/backend.ts';
import { ParleyError } from '../../../service/errors.ts';
import { quoteForShell } from '../../../system/shell-quote.ts';
import type { CliContext } from '../../context.ts';
import { tellFailure } from '../../error-report.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import { type PlaceGiven, placeOptions } from '../../same-place.ts';
import { BatchReport } from '../../session-batch/batch-report.ts';
import { type BatchWork, runBatch } from '../../session-batch/batch-run.ts';
import type { IdList } from '../../session-batch/id-list.ts';
import type { BatchJournal, BatchOwner } from '../../session-batch/journal.ts';

/** One operation on sessions, by the one and by the thousand. */
export interface SessionOperation<Done extends string> {
  readonly done: Done;
  readonly many: ((backend: Backend) => BatchWork<Done>['many']) | null;
  readonly one: (backend: Backend) => NonNullable<BatchWork<Done>['one']>;
  /** Whether ids may go one a call where the server takes no batches. */
  readonly goesSingly: boolean;
}

export interface BatchEnd {
  readonly report: BatchReport;
  readonly stopped: { readonly reason: unknown } | null;
}

export const defaultConcurrency = 16;

/** What a batch belongs to here, and what the project is called. */
export async function batchOwner(
  context: CliContext,
): Promise<{ readonly owner: BatchOwner; readonly project: string | null }> {
  const { backend, apiKey } = await context.open();
  const { project_id, project_name } = (await backend.service.verify(await context.call())).data;
  const { createHash } = await import('node:crypto');
  const key = createHash('sha256').update(apiKey).digest('hex').slice(0, 16);
  return {
    owner: { origin: context.target.origin, project_id: project_id || null, key },
    project: project_name || null,
  };
}

/** Of a backend whose key was verified: by then it is known. */
export function offersArchive({ extensions }: Backend): boolean {
  return extensions?.includes('archive') === true;
}

export async function runOver<Done extends string>(
  operation: SessionOperation<Done>,
  ids: {
    readonly entries: BatchWork<Done>['entries'];
    readonly total: number;
    readonly journal: BatchJournal | null;
    readonly concurrency: number;
  },
  context: CliContext,
): Promise<BatchEnd> {
  const { backend, apiKey } = await context.open();
  const { host } = context;
  const report = new BatchReport(context, ids.total);
  // Restoring is part of the archive, and is simply tried.
  const takesBatches = offersArchive(backend) || !operation.goesSingly;
  const stopped = await runBatch({
    done: operation.done,
    entries: ids.entries,
    report,
    journal: ids.journal,
    many: takesBatches ? (operation.many?.(backend) ?? null) : null,
    one: operation.goesSingly ? operation.one(backend) : null,
    apiKey,
    newRequestId: host.newRequestId,
    concurrency: ids.concurrency,
    now: host.now,
    random: host.random,
    // A reader that has seen enough of the result lines does not stop what was asked for.
    stopSignal: context.stopSignal,
  });
  await report.summarize();
  return { report, stopped };
}

/** Of one id, its failure is the command's own, and is told in words too. */
export async function runSingle<Done extends string>(
  operation: SessionOperation<Done>,
  list: IdList,
  ignoreMissing: boolean,
  context: CliContext,
): Promise<number> {
  const { backend } = await context.open();
  const report = new BatchReport(context, 1);
  let failure: ParleyError | null = null;
  for (const { id: session_id, number } of list.entries()) {
    if (number < 0) {
      report.add({ session_id, status: 'duplicate' });
      continue;
    }
    try {
      const call = { ...(await context.call()), signal: context.stopSignal };
      const { repeated } = await operation.one(backend)(call, session_id);
      report.add({ session_id, status: operation.done, ...(repeated && { repeated }) });
      if (repeated)
        await context.say(
          `Counted as ${operation.done} after a repeated request: the answer to the first was lost.`,
        );
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'SESSION_NOT_FOUND') throw error;
      const { code, message } = error;
      if (!ignoreMissing) failure = error;
      report.add({ session_id, status: 'not_found', ...(!ignoreMissing && { error: { code, message } }) });
    }
  }
  await report.flush();
  return failure === null ? exitDone : tellFailure(failure, context);
}

/** Several items: done, or some of them not. */
export function endStatus({ report }: BatchEnd, ignoreMissing: boolean): number {
  const failed = report.count('failed') + (ignoreMissing ? 0 : report.count('not_found'));
  return failed > 0 ? exitSomeFailed : exitDone;
}

/** A command of this program that works where this one did. */
export function sameCommand(words: string, place: PlaceGiven): string {
  return ['parley', words, ...placeOptions(place).map(quoteForShell)].join(' ');
}
