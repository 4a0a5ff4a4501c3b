// `parley sync`: two places exchange what the other lacks. It can be stopped and run again.
import type { Command } from 'commander';
import { ParleyError } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import type { Run } from '../run.ts';
import type { SyncInput } from '../sync/sync-run.ts';

interface SyncFlags {
  readonly push?: true;
  readonly pull?: true;
  readonly tag?: readonly string[];
  readonly dryRun?: true;
  readonly forget?: true;
  readonly verbose?: true;
}

const eachTag = (tag: string, tags: readonly string[] = []) => [...tags, tag];

export function registerSync(parent: Command, run: Run): void {
  parent
    .command('sync')
    .description('exchange sessions with another Parley, until both have the same')
    .argument('<profile>', 'the profile that leads to the other one')
    .option('--push', 'only bring the other one what it lacks')
    .option('--pull', 'only take from the other one what is missing here')
    .option('--tag <tag>', 'only sessions with this tag in either place; may be repeated', eachTag)
    .option('--dry-run', 'show what would be done, and change nothing')
    .option('--forget', 'as if the two had never been synced, after a store was restored from a backup')
    .option('--verbose', 'a result line for each session that is changed, also at a terminal')
    .action((profile: string, flags: SyncFlags, command: Command) =>
      run(command, (context) => {
        if (flags.push && flags.pull)
          throw new ParleyError('USAGE', '--push and --pull exclude each other.', {
            hint: 'Nothing was done. Without either, both directions are synced.',
          });
        if (flags.forget && flags.tag !== undefined)
          throw new ParleyError('USAGE', '--forget and --tag exclude each other.', {
            hint: 'Nothing was done. --forget is about all sessions: sync once with --forget alone.',
          });
        const input: SyncInput = {
          profile,
          direction: flags.push ? 'push' : flags.pull ? 'pull' : null,
          tags: flags.tag ?? [],
          dryRun: flags.dryRun ?? false,
          forgets: flags.forget ?? false,
          verbose: flags.verbose ?? false,
        };
        return runSync(input, context);
      }),
    );
}

export async function runSync(input: SyncInput, context: CliContext): Promise<number> {
  const { syncPlaces } = await import('../sync/sync-run.ts');
  return syncPlaces(input, context);
}
