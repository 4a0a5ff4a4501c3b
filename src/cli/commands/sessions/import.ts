// `parley sessions import`: takes in sessions that export wrote, and conversations of other programs, each whole or not at all, with one
// result each. It can be run again: what is there already stays as it is.
import { type Command, Option } from 'commander';
import { type PointInTime, pointInTime } from '../../age.ts';
import type { CliContext } from '../../context.ts';
import { type SourceName, sourceNames } from '../../imports/source.ts';
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

const eachTag = (tag: string, tags: readonly string[] = []) => [...tags, tag];

export function registerImport(parent: Command, run: Run): void {
  parent
    .command('import')
    .description('take in conversations: of other programs, and sessions that export wrote as JSON')
    .argument('[path...]', 'files, directories or zip archives; or - for stdin')
    .addOption(
      new Option('--from <source>', 'what it comes from (default: recognised)').choices([
        ...sourceNames,
        'parley',
      ]),
    )
    .option('--scan', 'show what other programs keep on this machine, and read nothing else')
    .option('--since <when>', 'only with a message since: 90m, 12h, 30d, 8w, or a date', pointInTime)
    .option('--match <glob>', 'only conversations whose title matches, with * ? [a-z]')
    .option('--messages-only', 'without notes of tool calls and thinking, and texts of attachments')
    .option('--tag <tag>', 'give this tag to what is imported; may be repeated', eachTag)
    .option('--dry-run', 'show what would be imported, and keep nothing')
    .option('--resume <batch>', 'go on with an import that was stopped')
    .option('--verbose', 'a result line for each session, also at a terminal')
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
