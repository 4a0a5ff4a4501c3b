// `parley sessions delete`: hides sessions, one or a million. If one of the ids is malformed, nothing is deleted. A batch can be resumed and
// undone.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { someSessions } from '../../session-argument.ts';
import { wholeNumber } from '../../whole-number.ts';
import type { ActionInput } from './action-plan.ts';
import { addFilterOptions, type FilterFlags, filterOf } from './session-filter.ts';

interface DeleteFlags extends FilterFlags {
  readonly resume?: string;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly ignoreMissing?: true;
  readonly max: number;
  readonly concurrency: number;
  readonly verbose?: true;
}

export function registerDelete(parent: Command, run: Run): void {
  const command = parent
    .command('delete')
    .description('delete sessions (sessions restore brings them back)')
    .argument('[id...]', someSessions);
  addFilterOptions(command)
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--dry-run', 'show what would be deleted, and delete nothing')
    .option('--ignore-missing', 'do not fail for ids that are not found')
    .option('--max <n>', 'refuse to delete more sessions than this', wholeNumber(1), 1_000_000)
    .option('--concurrency <n>', 'the largest number of calls at a time', wholeNumber(1, 256), 16)
    .option('--verbose', 'print a result line for each id, even at a terminal')
    .option('--resume <batch>', 'resume a batch that was stopped, and retry what failed')
    .action((words: string[], flags: DeleteFlags, self: Command) =>
      run(self, (context) =>
        runDelete(
          {
            kind: 'delete',
            tags: null,
            words,
            filter: filterOf(flags),
            resume: flags.resume ?? null,
            yes: flags.yes ?? false,
            dryRun: flags.dryRun ?? false,
            ignoreMissing: flags.ignoreMissing ?? false,
            max: flags.max,
            concurrency: flags.concurrency,
            verbose: flags.verbose ?? false,
          },
          context,
        ),
      ),
    );
}

async function runDelete(input: ActionInput, context: CliContext): Promise<number> {
  const { runAction } = await import('./action-run.ts');
  return runAction(input, context);
}
