// `parley sessions purge`: erases deleted sessions for good, or everything of one person. Deleting only hides sessions.
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import { type PointInTime, pointInTime } from '../../age.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import type { PurgeInput } from './purging.ts';
import type { UserPurgeInput } from './user-purging.ts';

export type { PurgeInput };

interface PurgeFlags {
  readonly deletedBefore?: PointInTime;
  readonly user?: string;
  readonly allProjects?: true;
  readonly rewrite?: true;
  readonly dryRun?: true;
  readonly confirm?: number;
  readonly yes?: true;
}

export function registerPurge(parent: Command, run: Run): void {
  parent
    .command('purge')
    .description('erase deleted sessions, or all of a person, for good, from the store on this machine')
    .option(
      '--deleted-before <when>',
      'those deleted before: 90m, 12h, 30d, 8w (0d: all), or a date',
      pointInTime,
    )
    .option('--user <name>', 'everything of this person: all of their sessions, deleted or not')
    .option('--all-projects', 'those of every project, not of this key’s alone')
    .option('--rewrite', 'write the tables anew, too: no erased byte stays in the files (PostgreSQL)')
    .option('--dry-run', 'say what would be erased, and erase nothing')
    .option('--confirm <count>', 'how many sessions are meant: instead of typing it', count)
    .option('-y, --yes', 'do not ask (with --user)')
    .action((flags: PurgeFlags, command: Command) =>
      run(command, (context) => {
        const { deletedBefore, user, yes } = flags;
        const common = {
          allProjects: flags.allProjects ?? false,
          rewrite: flags.rewrite ?? false,
          dryRun: flags.dryRun ?? false,
          confirm: flags.confirm ?? null,
        };
        if (user !== undefined && deletedBefore === undefined)
          return runUserPurge({ ...common, user, yes: yes ?? false }, context);
        if (deletedBefore === undefined || user !== undefined) throw oneOfThem();
        if (yes) throw countNeeded();
        return runPurge({ ...common, deletedBefore }, context);
      }),
    );
}

export async function runPurge(input: PurgeInput, context: CliContext): Promise<undefined> {
  const { purgeSessions } = await import('./purging.ts');
  return purgeSessions(input, context);
}

export async function runUserPurge(input: UserPurgeInput, context: CliContext): Promise<number> {
  const { purgeSessionsOf } = await import('./user-purging.ts');
  return purgeSessionsOf(input, context);
}

function oneOfThem(): ParleyError {
  return new ParleyError('USAGE', 'Either --deleted-before or --user says what is to go.', {
    hint: 'Nothing was erased. See: parley sessions purge --help',
  });
}

function countNeeded(): ParleyError {
  return new ParleyError('USAGE', '--yes is for --user.', {
    hint: 'Nothing was erased. --dry-run says how many sessions --confirm is to name.',
  });
}

function count(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give the number of sessions that --dry-run says.');
}
