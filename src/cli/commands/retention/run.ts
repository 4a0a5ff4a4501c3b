// `parley retention run`: deletes what the policy of a project calls old, and erases what has been deleted by it for long enough.
import { type Command, InvalidArgumentError } from 'commander';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import type { RetentionRunInput } from './running.ts';

interface RunFlags {
  readonly dryRun?: true;
  readonly yes?: true;
  readonly confirm?: number;
  readonly project?: string;
}

export function registerRetentionRun(parent: Command, run: Run): void {
  parent
    .command('run')
    .description('delete what is old by the policy, and erase what was deleted by it long ago')
    .option('--dry-run', 'say what would go, and change nothing')
    .option('--yes', 'do not ask for confirmation')
    .option(
      '--confirm <count>',
      'how many sessions are meant, as --dry-run says: instead of typing it',
      count,
    )
    .option('--project <name>', 'of another project than this key’s, by its name or id')
    .action(({ dryRun, yes, confirm, project }: RunFlags, command: Command) =>
      run(command, (context) =>
        runRetentionRun(
          {
            dryRun: dryRun ?? false,
            yes: yes ?? false,
            confirm: confirm ?? null,
            project: project ?? null,
          },
          context,
        ),
      ),
    );
}

export async function runRetentionRun(input: RetentionRunInput, context: CliContext): Promise<undefined> {
  const { runRetention } = await import('./running.ts');
  return runRetention(input, context);
}

function count(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give the number of sessions that --dry-run says.');
}
