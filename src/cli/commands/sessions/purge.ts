// `parley sessions purge`: erases deleted sessions for good. Deleting only hides them.
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { type PointInTime, pointInTime } from '../../age.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import type { PurgeInput } from './purging.ts';

export type { PurgeInput };

interface PurgeFlags {
  readonly deletedBefore: PointInTime;
  readonly allProjects?: true;
  readonly rewrite?: true;
  readonly dryRun?: true;
  readonly confirm?: number;
}

export function registerPurge(parent: Command, run: Run): void {
  parent
    .command('purge')
    .description('erase sessions that were deleted, for good, from the store on this machine')
    .requiredOption(
      '--deleted-before <when>',
      'those deleted before: 90m, 12h, 30d, 8w (0d: all), or a date',
      pointInTime,
    )
    .option('--all-projects', 'those of every project, not of this key’s alone')
    .option('--rewrite', 'write the tables anew, too: no erased byte stays in the files (PostgreSQL)')
    .option('--dry-run', 'say what would be erased, and erase nothing')
    .option('--confirm <count>', 'how many sessions are meant: instead of typing it', count)
    .action((flags: PurgeFlags, command: Command) =>
      run(command, (context) =>
        runPurge(
          {
            deletedBefore: flags.deletedBefore,
            allProjects: flags.allProjects ?? false,
            rewrite: flags.rewrite ?? false,
            dryRun: flags.dryRun ?? false,
            confirm: flags.confirm ?? null,
          },
          context,
        ),
      ),
    );
}

export async function runPurge(input: PurgeInput, context: CliContext): Promise<undefined> {
  const { purgeSessions } = await import('./purging.ts');
  return purgeSessions(input, context);
}

function count(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give the number of sessions that --dry-run says.');
}
