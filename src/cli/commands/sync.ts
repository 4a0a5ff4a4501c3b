// `parley sync`: exchanges sessions between two stores. It can be stopped and run again.
import type { Command } from 'commander';
import { ParleyError } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import { repeatable } from '../option-values.ts';
import type { Run } from '../run.ts';
import type { SyncFlags } from '../sync/sync-run.ts';

export function registerSync(parent: Command, run: Run): void {
  parent
    .command('sync')
    .description('synchronise sessions with another Parley, in both directions')
    .argument('<profile>', 'the profile of the other Parley')
    .option('--push', 'only send what the other one lacks')
    .option('--pull', 'only fetch what is missing here')
    .option('--tag <tag>', 'only sessions that have this tag in either place; repeatable', repeatable)
    .option('--dry-run', 'show what would be done, and change nothing')
    .option('--forget', 'sync as if for the first time; needed after restoring a store from a backup')
    .option('--verbose', 'print a result line for each changed session, even at a terminal')
    .action(run(runSync));
}

export async function runSync(profile: string, flags: SyncFlags, context: CliContext): Promise<number> {
  if (flags.push && flags.pull)
    throw new ParleyError('USAGE', '--push and --pull cannot be used together.', {
      hint: 'Nothing was done. Without either, sync goes in both directions.',
    });
  if (flags.forget && flags.tag !== undefined)
    throw new ParleyError('USAGE', '--forget and --tag cannot be used together.', {
      hint: 'Nothing was done. --forget applies to all sessions: sync once with --forget alone.',
    });
  const { syncTargets } = await import('../sync/sync-run.ts');
  return syncTargets(profile, flags, context);
}
