// `parley sessions import`: imports sessions that `sessions export` wrote, and conversations of other programs. Each is imported completely
// or not at all. Running it again is safe: existing sessions stay as they are.

import { type Command, Option } from 'commander';
import { type PointInTime, pointInTime } from '../../age.ts';
import type { CliContext } from '../../context.ts';
import { type SourceName, sourceNames } from '../../imports/source.ts';
import { repeatable } from '../../option-values.ts';
import type { Run } from '../../run.ts';
import type { ImportInput } from './import-plan.ts';

interface ImportFlags {
  readonly from?: SourceName | 'parley';
  readonly since?: PointInTime;
  readonly match?: string;
  readonly messagesOnly?: true;
  readonly tag?: readonly string[];
  readonly dryRun?: true;
  readonly scan?: true;
  readonly resume?: string;
  readonly verbose?: true;
}

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
    .option('--verbose', 'print a result line for each session, even at a terminal')
    .action((paths: string[], flags: ImportFlags, command: Command) =>
      run(command, (context) =>
        runImport(
          {
            paths,
            from: flags.from ?? null,
            since: flags.since ?? null,
            match: flags.match ?? null,
            messagesOnly: flags.messagesOnly ?? false,
            tags: flags.tag ?? [],
            dryRun: flags.dryRun ?? false,
            scan: flags.scan ?? false,
            resume: flags.resume ?? null,
            verbose: flags.verbose ?? false,
          },
          context,
        ),
      ),
    );
}

export async function runImport(input: ImportInput, context: CliContext): Promise<number> {
  const { importSessions } = await import('./import-run.ts');
  return importSessions(input, context);
}
