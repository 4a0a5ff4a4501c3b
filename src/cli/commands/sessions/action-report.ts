// What a batch reports at its end: what was done before it was stopped, how to resume it, and how to undo it.
import { offers } from '../../../service/backend.ts';
import type { CliContext } from '../../context.ts';
import { Interruption } from '../../interruption.ts';
import { type BatchAction, type BatchKind, batchKinds } from '../../session-batch/batch-kind.ts';
import { type BatchEnd, commandAtTarget, endStatus } from './batch.ts';

export const nothingDone = ({ kind }: BatchAction) =>
  `Stopped: nothing was ${batchKinds[kind].done}. To continue, run the same command again.\n`;
export const unknownOutcome = ({ kind }: BatchAction) =>
  `Stopped before the response arrived: the session may have been ${batchKinds[kind].done}. To make sure, run the same command again.\n`;

/** Writes the line if the work is stopped while there is no journal to resume from. The line is part of the failure, so `--quiet` keeps it. */
export async function orWriteIfStopped<T>(
  line: string,
  context: CliContext,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Interruption) await context.stderr.write(line);
    throw error;
  }
}

/** Prints how to resume a batch that was stopped, or how to undo it. Resolves to the exit status. */
export async function reportEnd(
  end: BatchEnd,
  {
    batch,
    kind,
    ignoreMissing,
  }: { readonly batch: string; readonly kind: BatchKind; readonly ignoreMissing: boolean },
  context: CliContext,
): Promise<number> {
  const resume = commandAtTarget(`sessions ${kind} --resume ${batch}`, context.options);
  if (end.stopped !== null) {
    // The line is part of the failure, so `--quiet` keeps it.
    const where = end.report.progress.finished === 0 ? 'Stopped before the first result.' : 'Stopped.';
    await context.stderr.write(`${where} To resume: ${resume}\n`);
    return endStatus(end, ignoreMissing);
  }
  if (end.report.progress.count('failed') > 0) await context.say(`To retry the failed sessions: ${resume}`);
  if (end.report.progress.count(batchKinds[kind].done) > 0) {
    const undo = commandAtTarget(`sessions restore --batch ${batch}`, context.options);
    const { backend } = await context.open();
    await context.say(
      offers(backend, 'archive') ? `To undo it: ${undo}` : 'It cannot be undone on this server.',
    );
  }
  return endStatus(end, ignoreMissing);
}
