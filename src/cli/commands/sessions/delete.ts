// `parley sessions delete`: hides sessions, one or a million. If one given id is malformed, nothing is deleted. A batch can be resumed and
// undone.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
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
    .description('delete sessions (hides them: sessions restore brings them back)')
    .argument(
      '[id...]',
      'ids, ends of ids (6 or more characters) or titles; or - for ids on stdin: one a line, or NDJSON with session_id',
    );
  addFilterOptions(command)
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'look up what would go, and delete nothing')
    .option('--ignore-missing', 'an id that is not found is no failure')
    .option('--max <n>', 'refuse to delete more than so many', wholeNumber(1), 1_000_000)
    .option('--concurrency <n>', 'calls at once, at most', wholeNumber(1, 256), 16)
    .option('--verbose', 'a result line for each id, also at a terminal')
    .option('--resume <batch>', 'go on with a batch that was stopped, and try again what failed')
    .action((words: string[], flags: DeleteFlags, self: Command) =>
      run(self, (context) =>
        runDelete(
          {
            ...{ kind: 'delete', tags: null },
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

export async function runDelete(input: ActionInput, context: CliContext): Promise<number> {
  const { runAction } = await import('./action-run.ts');
  return runAction(input, context);
}
