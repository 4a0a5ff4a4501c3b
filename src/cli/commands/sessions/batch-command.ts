// What delete, pin, unpin, archive, unarchive and tag have in common.
import type { Command } from 'commander';
import type { TagChange } from '../../../service/session-archive.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { someSessions } from '../../session-argument.ts';
import type { BatchKind } from '../../session-batch/batch-kind.ts';
import { wholeNumber } from '../../whole-number.ts';
import { addFilterOptions, type FilterFlags, filterOf } from './session-filter.ts';

interface BatchFlags extends FilterFlags {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
  readonly resume?: string;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly ignoreMissing?: true;
  readonly max: number;
  readonly concurrency?: number;
  readonly verbose?: true;
}

interface BatchCommand {
  readonly kind: BatchKind;
  readonly description: string;
  /** Adds options of its own, before the common ones. */
  readonly options?: (command: Command) => Command;
  /** Separates the ids from the tags that the words and flags name. */
  readonly read?: (
    words: readonly string[],
    flags: Pick<BatchFlags, 'add' | 'remove' | 'resume'>,
  ) => { readonly words: readonly string[]; readonly tags: TagChange };
}

export function registerBatch(
  parent: Command,
  run: Run,
  { kind, description, options = (command) => command, read }: BatchCommand,
): void {
  const isDeletion = kind === 'delete';
  const [change, changed] = isDeletion ? ['delete', 'deleted'] : ['change', 'changed'];
  const command = parent.command(kind).description(description).argument('[id...]', someSessions);
  addFilterOptions(options(command), kind === 'unarchive' ? 'archived sessions (the default)' : undefined)
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--dry-run', `show what would be ${changed}, and ${change} nothing`)
    .option('--ignore-missing', 'do not fail for ids that are not found')
    .option('--max <n>', `refuse to ${change} more sessions than this`, wholeNumber(1), 1_000_000);
  if (isDeletion)
    command.option('--concurrency <n>', 'the largest number of calls at a time', wholeNumber(1, 256), 16);
  command
    .option('--verbose', 'print a result line for each id, even at a terminal')
    .option('--resume <batch>', 'resume a batch that was stopped, and retry what failed')
    .action(
      run(async (words: string[], flags: BatchFlags, context: CliContext) => {
        const { runAction } = await import('./action-run.ts');
        const parsed = read?.(words, flags) ?? { words, tags: null };
        return runAction({ concurrency: 3, ...flags, kind, ...parsed, filter: filterOf(flags) }, context);
      }),
    );
}
