// What all batches have in common: the operation on one id or many, the result lines, and the exit status.
import { createHash } from 'node:crypto';
import { type Backend, offers } from '../../../service/backend.ts';
import { hasCode, type ParleyError } from '../../../service/errors.ts';
import { quoteForShell } from '../../../system/shell-quote.ts';
import type { CliContext } from '../../context.ts';
import { reportInWords } from '../../error-report.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import { BatchReport, type ItemResult, writeResults } from '../../session-batch/batch-report.ts';
import { type BatchWork, runBatch } from '../../session-batch/batch-run.ts';
import type { IdList } from '../../session-batch/id-list.ts';
import type { BatchOwner } from '../../session-batch/journal.ts';
import { withSessionName } from '../../session-reference.ts';
import { type TargetFlags, targetOptions } from '../../target-options.ts';

/** An operation on sessions, one or many per call. */
export interface SessionOperation {
  readonly done: string;
  readonly runMany: ((backend: Backend) => BatchWork['runMany']) | null;
  readonly runOne: (backend: Backend) => NonNullable<BatchWork['runOne']>;
  /** True if a batch may send one id per call to a server without batches. */
  readonly mayRunSingly: boolean;
  /** True if a session is not found any more afterwards. */
  readonly isMissingWhenDone?: boolean;
  /** True for pins, archiving and tags, whose results include what changed. */
  readonly isOrder?: boolean;
}

/** The ids of a batch. `total` counts distinct ids. */
export interface BatchIds extends Pick<BatchWork, 'entries' | 'journal' | 'concurrency'> {
  readonly total: number;
}

export interface BatchEnd {
  readonly report: BatchReport;
  /** Why the batch stopped early; null if it did not. */
  readonly stopped: { readonly reason: unknown } | null;
}

export const defaultConcurrency = 16;

/** The owner of a batch that starts now, and the name of its project. */
export async function batchOwner(
  context: CliContext,
): Promise<{ readonly owner: BatchOwner; readonly project: string | null }> {
  const { backend, apiKey } = await context.open();
  const { project_id, project_name } = (await backend.service.verify(await context.call())).data;
  const key = createHash('sha256').update(apiKey).digest('hex').slice(0, 16);
  return {
    owner: { origin: context.target.origin, project_id: project_id || null, key },
    project: project_name || null,
  };
}

/** Runs an operation over many ids. `verbose` prints a result line for each id, even at a terminal. `batch` is the name of a batch with a journal. */
export async function runOver(
  operation: SessionOperation,
  { verbose, batch = null, ...ids }: BatchIds & { readonly verbose: boolean; readonly batch?: string | null },
  context: CliContext,
): Promise<BatchEnd> {
  const { backend, apiKey } = await context.open();
  const report = new BatchReport(context, { total: ids.total, done: operation.done, verbose });
  // Restoring needs the archive, so it is tried even if the server is not known to have one.
  const takesBatches = offers(backend, 'archive') || !operation.mayRunSingly;
  const stopped = await runBatch({
    url: context.target.url,
    ...ids,
    done: operation.done,
    isMissingWhenDone: operation.isMissingWhenDone ?? false,
    keys: operation.isOrder ? batch : null,
    report,
    runMany: takesBatches ? (operation.runMany?.(backend) ?? null) : null,
    runOne: operation.mayRunSingly ? operation.runOne(backend) : null,
    apiKey,
    host: context.host,
    stopSignal: context.stopSignal,
  });
  try {
    await report.summarize();
  } catch (reason) {
    return { report, stopped: stopped ?? { reason } };
  }
  return { report, stopped };
}

/** What happens if the only session of a command is missing: a result line with or without a failure, or an error for the caller. */
export type Missing = 'reported' | 'ignored' | 'thrown';

/** Runs an operation on a single id, which may be given more than once. Its failure is the failure of the command. */
export async function runSingle(
  operation: SessionOperation,
  list: IdList,
  { missing, isFromStdin }: { readonly missing: Missing; readonly isFromStdin: boolean },
  context: CliContext,
): Promise<number> {
  const ignoreMissing = missing === 'ignored';
  const { backend } = await context.open();
  const results: ItemResult[] = [];
  let failure: ParleyError | null = null;
  for (const { id: session_id, number } of list.entries()) {
    if (number < 0) {
      results.push({ session_id, status: 'duplicate' });
      continue;
    }
    try {
      const call = { ...(await context.call()), signal: context.stopSignal };
      const { repeated } = await operation.runOne(backend)(call, session_id);
      results.push({ session_id, status: operation.done, ...(repeated && { repeated }) });
      if (repeated)
        await context.say(
          `Counted as ${operation.done}: the request was repeated, because the response to the first one was lost.`,
        );
    } catch (error) {
      if (!hasCode(error, 'SESSION_NOT_FOUND')) throw error;
      const { code, message } = error;
      const state = operation.done === 'restored' ? 'deleted' : 'active';
      if (!ignoreMissing) failure = withSessionName(error, session_id, context, state, isFromStdin);
      results.push({ session_id, status: 'not_found', ...(!ignoreMissing && { error: { code, message } }) });
    }
  }
  if (failure !== null && missing === 'thrown') throw failure;
  await writeResults(results, context);
  return failure === null ? exitDone : reportInWords(failure, context);
}

/** The exit status of a batch. Throws the reason if the batch stopped early. */
export function endStatus({ report, stopped }: BatchEnd, ignoreMissing: boolean): number {
  if (stopped !== null) throw stopped.reason;
  const failed = report.progress.count('failed') + (ignoreMissing ? 0 : report.progress.count('not_found'));
  return failed > 0 ? exitSomeFailed : exitDone;
}

/** A command of this program that uses the same target. */
export function commandAtTarget(words: string, target: TargetFlags): string {
  return ['parley', words, ...targetOptions(target).map(quoteForShell)].join(' ');
}
