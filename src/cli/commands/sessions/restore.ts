// `parley sessions restore`: undoes deletions.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { runBatch } from './batch.ts';
import { givenIds } from './ids.ts';

const mostIds = 1_000_000;

export interface RestoreInput {
  /** Ids, or `-` for stdin. */
  readonly words: readonly string[];
}

export function registerRestore(parent: Command, run: Run): void {
  parent
    .command('restore')
    .description('bring deleted sessions back')
    .argument('[id...]', 'session ids, or - for ids on stdin: one a line, or NDJSON with session_id')
    .action((words: string[], _options, command: Command) =>
      run(command, (context) => runRestore({ words }, context)),
    );
}

export async function runRestore({ words }: RestoreInput, context: CliContext): Promise<number> {
  const ids = await givenIds(words, mostIds, context);
  const { home } = await context.open();
  return runBatch(
    {
      done: 'restored',
      ids,
      ignoreMissing: false,
      many: async (call, some) => (await home.archive.restoreSessions(call, some)).data.items,
      one: (call, id) => home.archive.restoreSession(call, id),
    },
    context,
  );
}
