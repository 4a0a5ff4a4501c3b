// `parley sessions import`: imports sessions that `sessions export` wrote, and conversations of other programs. Each is imported completely
// or not at all. Running it again is safe: existing sessions stay as they are.

import { type Command, Option } from 'commander';
import { pointInTime } from '../../age.ts';
import type { CliContext } from '../../context.ts';
import { sourceNames } from '../../imports/source.ts';
import { repeatable } from '../../option-values.ts';
import type { Run } from '../../run.ts';
import type { ImportFlags } from './import-plan.ts';

export function registerImport(parent: Command, run: Run): void {
  parent
    .command('import')
    .description('import conversations of other programs, or sessions exported as JSON')
    .argument('[path...]', 'files, directories or zip archives; or - for stdin')
    .addOption(
      new Option('--from <source>', 'the source of the files (default: detect it)').choices([
        ...sourceNames,
        'parley',
      ]),
    )
    .option('--scan', 'only show which conversations other programs keep on this machine')
    .option(
      '--since <when>',
      'only conversations with a message since then: 90m, 12h, 30d, 8w, or a date',
      pointInTime,
    )
    .option('--match <glob>', 'only conversations whose title matches this glob (* ? [a-z])')
    .option('--messages-only', 'leave out tool calls, reasoning and the text of attachments')
    .option('--tag <tag>', 'give this tag to the imported sessions; repeatable', repeatable)
    .option('--dry-run', 'show what would be imported, and import nothing')
    .option('--resume <batch>', 'resume an import that was stopped')
    .option(
      '--verbose',
      'print a result line for each session, even at a terminal, and explain every failure',
    )
    .action(run(runImport));
}

export async function runImport(
  paths: readonly string[],
  flags: ImportFlags,
  context: CliContext,
): Promise<number> {
  const { importSessions } = await import('./import-run.ts');
  return importSessions(paths, flags, context);
}
