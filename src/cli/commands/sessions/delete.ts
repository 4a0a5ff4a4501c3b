// `parley sessions delete`: hides sessions, one or a million. If one given id is malformed, nothing is deleted. A batch can be resumed and
// undone.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { wholeNumber } from '../../whole-number.ts';
import type { DeleteInput } from './delete-plan.ts';
import { addFilterOptions, type FilterFlags, filterOf } from './session-filter.ts';

export type { DeleteInput };

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
    .argument('[id...]', 'session ids, or - for ids on stdin: one a line, or NDJSON with session_id');
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

export async function runDelete(input: DeleteInput, context: CliContext): Promise<number> {
  const { deleteSessions } = await import('./delete-run.ts');
  return deleteSessions(input, context);
}
