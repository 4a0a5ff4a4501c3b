// `parley sessions restore`: restores deleted sessions, and undoes batches of any kind.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { someSessions } from '../../session-argument.ts';
import type { RestoreFlags } from './restoration.ts';

export function registerRestore(parent: Command, run: Run): void {
  parent
    .command('restore')
    .description('restore deleted sessions, or undo a batch of any kind')
    .argument('[id...]', someSessions)
    .option('--batch <batch>', 'undo this batch; for an import, delete the sessions that it created')
    .option('--last', 'undo the last batch of this project')
    .option('-y, --yes', 'do not ask before --last deletes the sessions of an import')
    .option('--verbose', 'print a result line for each id, even at a terminal')
    .action(run(runRestore));
}

export async function runRestore(
  words: readonly string[],
  flags: RestoreFlags,
  context: CliContext,
): Promise<number> {
  const { restoreSessions } = await import('./restoration.ts');
  return restoreSessions(words, flags, context);
}
