// `parley sessions redact`: takes secrets, or the texts of messages, out of stored sessions for good.
import type { Command } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import type { RedactInput } from './redacting.ts';

interface RedactFlags {
  readonly secrets?: true;
  readonly message?: readonly string[];
  readonly all?: true;
  readonly rewrite?: true;
  readonly dryRun?: true;
  readonly yes?: true;
}

const help = `
The texts are replaced by [redacted KIND] in the store on this machine, and their bytes erased from its files. This cannot be undone:
  parley sessions redact ID --secrets --dry-run
  parley sessions redact ID --message 4         the whole text of the message at position 4 (or: its id)
`;

export function registerRedact(parent: Command, run: Run): void {
  parent
    .command('redact')
    .description('take secrets, or the texts of messages, out of sessions for good, down to the bytes')
    .argument(
      '[id...]',
      'ids, ends of ids (6 or more characters) or titles; or - for ids on stdin: one a line, or NDJSON with session_id',
    )
    .option('--secrets', 'what sessions search --secrets finds: in messages, titles and settings')
    .option('--message <id>', 'the whole text of this message, by its id or position; repeatable', collected)
    .option('--all', 'every session of the project (with --secrets)')
    .option('--rewrite', 'write the tables anew, too: no replaced byte stays in the files (PostgreSQL)')
    .option('--dry-run', 'say what would be replaced, and replace nothing')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', help)
    .action((words: string[], flags: RedactFlags, command: Command) =>
      run(command, (context) => runRedact(inputOf(words, flags), context)),
    );
}

export async function runRedact(input: RedactInput, context: CliContext): Promise<number> {
  const { redactSessions } = await import('./redacting.ts');
  return redactSessions(input, context);
}

function inputOf(words: readonly string[], flags: RedactFlags): RedactInput {
  const { secrets, message, all } = flags;
  if ((secrets === undefined) === (message === undefined)) {
    throw new ParleyError('USAGE', 'Either --secrets or --message says what is to go.', {
      hint: 'Nothing was replaced. See: parley sessions redact --help',
    });
  }
  if (all && (words.length > 0 || message !== undefined)) {
    throw new ParleyError('USAGE', '--all goes with --secrets alone.', { hint: 'Nothing was replaced.' });
  }
  return {
    ...{ words, all: all ?? false, messages: message ?? null },
    ...{ rewrite: flags.rewrite ?? false, dryRun: flags.dryRun ?? false, yes: flags.yes ?? false },
  };
}

function collected(id: string, ids: readonly string[] = []): readonly string[] {
  return [...ids, id];
}
