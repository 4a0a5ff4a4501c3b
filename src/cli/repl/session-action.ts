// Runs an action of `parley sessions` on one session, without asking for confirmation. Rejects if there is no such session.
import type { CliContext } from '../context.ts';
import type { BatchAction } from '../session-batch/batch-kind.ts';

export async function runSessionAction(id: string, action: BatchAction, context: CliContext): Promise<void> {
  const { runAction } = await import('../commands/sessions/action-run.ts');
  const selection = { words: [id], filter: null, resume: null, max: 1, concurrency: 1, verbose: false };
  const answers = { yes: true, dryRun: false, ignoreMissing: false, throwsMissing: true };
  await runAction({ ...action, ...selection, ...answers }, context);
}
