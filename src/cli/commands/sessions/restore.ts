// `parley sessions restore`: undoes deletions of single ids, and batches of any kind.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import type { RestoreInput } from './restoration.ts';

export type { RestoreInput };

interface RestoreFlags {
  readonly batch?: string;
  readonly last?: true;
  readonly verbose?: true;
}

export function registerRestore(parent: Command, run: Run): void {
  parent
    .command('restore')
    .description('bring deleted sessions back, or undo a batch of another kind')
    .argument(
      '[id...]',
      'ids, ends of ids (6 or more characters) or titles; or - for ids on stdin: one a line, or NDJSON with session_id',
    )
    .option(
      '--batch <batch>',
      'undo this batch, whatever it has changed; of an import, take back what it has created',
    )
    .option('--last', 'undo the last batch here')
    .option('--verbose', 'a result line for each id, also at a terminal')
    .action((words: string[], flags: RestoreFlags, command: Command) =>
      run(command, (context) =>
        runRestore(
          {
            words,
            batch: flags.batch ?? null,
            last: flags.last ?? false,
            verbose: flags.verbose ?? false,
          },
          context,
        ),
      ),
    );
}

export async function runRestore(input: RestoreInput, context: CliContext): Promise<number> {
  const { restoreSessions } = await import('./restoration.ts');
  return restoreSessions(input, context);
}
