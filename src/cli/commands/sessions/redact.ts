// `parley sessions redact`: permanently removes secrets, or the texts of messages, from stored sessions.

import type { Command } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { helpNote } from '../../help-layout.ts';
import { repeatable } from '../../option-values.ts';
import type { Run } from '../../run.ts';
import { someSessions } from '../../session-argument.ts';
import type { RedactFlags } from './redacting.ts';

const help = `
Replaces the texts with [redacted KIND] in the store on this machine, and erases their bytes from its files. This cannot be undone.`;

export function registerRedact(parent: Command, run: Run): void {
  parent
    .command('redact')
    .description('permanently remove secrets or messages from sessions and from the files of the store')
    .argument('[id...]', someSessions)
    .option('--secrets', 'remove what sessions search --secrets finds in messages, titles and settings')
    .option(
      '--message <id>',
      'remove the whole text of this message of one session, by its id or position; repeatable',
      repeatable,
    )
    .option('--all', 'redact all sessions of the project (with --secrets)')
    .option('--rewrite', 'also rewrite the tables, so that no replaced byte stays in the files (PostgreSQL)')
    .option('--dry-run', 'show what would be replaced, and replace nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .addHelpText('after', helpNote(help))
    .action(run(runRedact));
}

export async function runRedact(
  words: readonly string[],
  flags: RedactFlags,
  context: CliContext,
): Promise<number> {
  requireSelection(words, flags);
  const { redactSessions } = await import('./redacting.ts');
  return redactSessions({ words, ...flags }, context);
}

function requireSelection(words: readonly string[], { secrets, message, all }: RedactFlags): void {
  if ((secrets === undefined) === (message === undefined)) {
    throw new ParleyError('USAGE', 'Use either --secrets or --message to select what to remove.', {
      hint: 'Nothing was replaced. See: parley sessions redact --help',
    });
  }
  if (all && (words.length > 0 || message !== undefined)) {
    throw new ParleyError('USAGE', '--all cannot be combined with ids or --message.', {
      hint: 'Nothing was replaced.',
    });
  }
}
