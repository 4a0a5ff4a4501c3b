// `parley retention run`: applies the policy of a project: deletes inactive sessions, and erases those that it deleted long ago.

import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import { confirmedSessions } from '../../option-values.ts';
import type { Run } from '../../run.ts';
import type { RetentionRunFlags } from './running.ts';

export function registerRetentionRun(parent: Command, run: Run): void {
  parent
    .command('run')
    .description('apply the policy: delete inactive sessions, and erase those it deleted long ago')
    .option('--dry-run', 'show what would be deleted and erased, and change nothing')
    .option('-y, --yes', 'do not ask for confirmation, except for a count (see --confirm)')
    .option(
      '--confirm <count>',
      'confirm the number of sessions that --dry-run shows, instead of typing it',
      confirmedSessions,
    )
    .option('--project <name>', 'a project other than that of the key, by name or id')
    .action(run(runRetentionRun));
}

export async function runRetentionRun(flags: RetentionRunFlags, context: CliContext): Promise<void> {
  const { runRetention } = await import('./running.ts');
  return runRetention(flags, context);
}
