// `parley repl`, and `parley` alone at a terminal: an interactive conversation. src/cli/repl implements it.
import type { Command } from 'commander';
import { ParleyError } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import {
  checkEphemeralConflicts,
  continuingHint,
  ephemeralDescription,
  ephemeralFlag,
} from '../ephemeral-option.ts';
import { markdownOption } from '../markdown-option.ts';
import type { ReplInput } from '../repl/open-repl.ts';
import type { Run } from '../run.ts';
import { oneSession } from '../session-argument.ts';
import { requireReference } from '../session-reference.ts';
import { addSettingOptions } from '../setting-options.ts';

export function registerRepl(parent: Command, run: Run): void {
  const command = parent
    .command('repl')
    .description('have a conversation in the terminal (parley alone does the same)')
    .option('-s, --session <id>', `continue this session: ${oneSession}`)
    .option('-c, --continue', 'continue the session last used in this terminal')
    .option(
      '-m, --mode <name>',
      'the mode to chat in (default: that of the session, else the default; see: parley models)',
    )
    .option('--user <name>', 'the user that the sessions of this conversation belong to')
    .option(ephemeralFlag, ephemeralDescription);
  addSettingOptions(command)
    .addOption(markdownOption())
    .option('--raw', 'print replies without rendering: --markdown never')
    .action(
      run((flags: ReplInput & { readonly raw?: true }, context: CliContext) =>
        runRepl({ ...flags, markdown: flags.raw ? 'never' : flags.markdown }, context),
      ),
    );
}

export async function runRepl(input: ReplInput, context: CliContext): Promise<number> {
  checkEphemeralConflicts(input.ephemeral, [
    ['-s', input.session !== undefined, continuingHint],
    ['-c', input.continue, continuingHint],
  ]);
  if (input.session !== undefined) {
    if (input.continue) throw new ParleyError('USAGE', '-s and -c cannot be used together.');
    requireReference(input.session);
  }
  if (context.options.json) {
    throw new ParleyError('USAGE', 'The REPL cannot print JSON.', {
      hint: 'Use: parley chat --json "Hello"',
    });
  }
  if (!canConverse(context)) {
    throw new ParleyError(
      'USAGE',
      'The REPL needs an interactive terminal for input and output, and cannot run with --no-input.',
      {
        hint: 'To send one message without a terminal: parley chat "Hello", or pipe the message in.',
      },
    );
  }
  if (input.ephemeral) context.keepNoText();
  const { openRepl } = await import('../repl/open-repl.ts');
  return openRepl(input, context);
}

/** True if stdin and stdout are a terminal and prompts are allowed. */
export function canConverse(context: CliContext): boolean {
  return context.stdout.isTerminal && context.prompting.allowed;
}
