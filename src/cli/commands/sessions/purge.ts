// `parley sessions purge`: permanently erases deleted sessions, or everything of one user. `sessions delete` only hides sessions.

import type { Command } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import { type PointInTime, pointInTime } from '../../age.ts';
import type { CliContext } from '../../context.ts';
import { confirmedSessions } from '../../option-values.ts';
import type { Run } from '../../run.ts';
import type { PurgeInput } from './purging.ts';
import type { UserPurgeInput } from './user-purging.ts';

interface PurgeFlags extends Omit<PurgeInput, 'deletedBefore'> {
  readonly deletedBefore?: PointInTime;
  readonly user?: string;
  readonly yes?: true;
}

export function registerPurge(parent: Command, run: Run): void {
  parent
    .command('purge')
    .description(
      'permanently erase deleted sessions, or all sessions of a user, from the store on this machine',
    )
    .option(
      '--deleted-before <when>',
      'sessions deleted before: 90m, 12h, 30d, 8w (0d: all), or a date',
      pointInTime,
    )
    .option('--user <name>', 'all sessions of this user, deleted or not')
    .option('--all-projects', 'sessions of all projects, not only that of the key')
    .option('--rewrite', 'also rewrite the tables, so that no erased byte stays in the files (PostgreSQL)')
    .option('--dry-run', 'show what would be erased, and erase nothing')
    .option('--confirm <count>', 'confirm the number of sessions, instead of typing it', confirmedSessions)
    .option('-y, --yes', 'do not ask for confirmation (with --user)')
    .action(
      run(({ deletedBefore, user, yes, ...common }: PurgeFlags, context: CliContext) => {
        if (user !== undefined && deletedBefore === undefined)
          return runUserPurge({ ...common, user, ...(yes && { yes }) }, context);
        if (deletedBefore === undefined || user !== undefined) throw needsOneFilter();
        if (yes) throw needsCount();
        return runPurge({ ...common, deletedBefore }, context);
      }),
    );
}

export async function runPurge(input: PurgeInput, context: CliContext): Promise<number> {
  const { purgeSessions } = await import('./purging.ts');
  return purgeSessions(input, context);
}

export async function runUserPurge(input: UserPurgeInput, context: CliContext): Promise<number> {
  const { purgeSessionsOf } = await import('./user-purging.ts');
  return purgeSessionsOf(input, context);
}

function needsOneFilter(): ParleyError {
  return new ParleyError('USAGE', 'Use either --deleted-before or --user to select what to erase.', {
    hint: 'Nothing was erased. See: parley sessions purge --help',
  });
}

function needsCount(): ParleyError {
  return new ParleyError('USAGE', '--yes requires --user.', {
    hint: 'Nothing was erased. Use --confirm with the number of sessions that --dry-run shows.',
  });
}
