// Runs an action of `parley sessions` on one session, without asking for confirmation.
import type { CliContext } from '../context.ts';
import type { BatchAction } from '../session-batch/batch-kind.ts';

/** Returns the exit status. */
export async function runSessionAction(
  id: string,
  action: BatchAction,
  context: CliContext,
): Promise<number> {
  const { runAction } = await import('../commands/sessions/action-run.ts');
  const selection = { words: [id], filter: null, resume: null, max: 1, concurrency: 1, verbose: false };
  return runAction({ ...action, ...selection, yes: true, dryRun: false, ignoreMissing: false }, context);
}
