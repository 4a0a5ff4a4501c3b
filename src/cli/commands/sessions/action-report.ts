// What a batch says at its end: what was done when it was stopped, how to go on, and how to undo it.
import type { CliContext } from '../../context.ts';
import { Interruption } from '../../interruption.ts';
import { type BatchAction, type BatchKind, batchKinds } from '../../session-batch/batch-kind.ts';
import { type BatchEnd, endStatus, offersArchive, sameCommand } from './batch.ts';

export const nothingYet = ({ kind }: BatchAction) =>
  `Stopped: nothing was ${batchKinds[kind].done}. To go on, give the same command again.\n`;
export const noAnswer = ({ kind }: BatchAction) =>
  `Stopped before the answer came: it may have been ${batchKinds[kind].done}. To make sure, give the same command again.\n`;

/** Says the line if the work is stopped before there is a journal to go on with. The line is part of the failure, so `--quiet` keeps it. */
export async function orSay<T>(line: string, context: CliContext, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Interruption) await context.stderr.write(line);
    throw error;
  }
}

/** Says how to go on with a batch that was stopped, and how to undo another. Resolves with the exit status. */
export async function tellEnd(
  end: BatchEnd,
  {
    batch,
    kind,
    ignoreMissing,
  }: { readonly batch: string; readonly kind: BatchKind; readonly ignoreMissing: boolean },
  context: CliContext,
): Promise<number> {
  const resume = sameCommand(`sessions ${kind} --resume ${batch}`, context.options);
  if (end.stopped !== null) {
    // The line is part of the failure, so `--quiet` keeps it.
    const where = end.report.progress.finished === 0 ? 'Stopped before the first result.' : 'Stopped.';
    await context.stderr.write(`${where} To go on: ${resume}\n`);
    return endStatus(end, ignoreMissing);
  }
  if (end.report.progress.count('failed') > 0) await context.say(`To try the failed again: ${resume}`);
  if (end.report.progress.count(batchKinds[kind].done) > 0) {
    const undo = sameCommand(`sessions restore --batch ${batch}`, context.options);
    const { backend } = await context.open();
    await context.say(
      offersArchive(backend) ? `To undo it: ${undo}` : 'This server offers nothing that would undo it.',
    );
  }
  return endStatus(end, ignoreMissing);
}
