// Turns an error of commander into a failure of Parley: what is wrong, then the command that was meant, or how the command is used.
import type { Command, CommanderError } from 'commander';
import { ParleyError } from '../service/errors.ts';
import { beginning } from '../service/quoted.ts';
import { commandPath } from './command-tree.ts';
import { commandLines, commandUsage } from './help-layout.ts';
import {
  suggestByForeignName,
  suggestCommand,
  suggestInGroup,
  suggestModes,
  suggestSearch,
} from './suggest-command.ts';
import { suggestOption, suggestOptionOfWord } from './suggest-option.ts';

/** The errors after which the line `Usage: …` helps. */
const usageCodes: readonly string[] = [
  'commander.excessArguments',
  'commander.missingArgument',
  'commander.missingMandatoryOptionValue',
];

/** The commands to which users give a key as an argument. Their messages do not quote an unexpected argument. */
const keyCommands: readonly string[] = ['parley login', 'parley logout'];

/** `command` is the one that refused the command line `argv`. */
export function usageError(error: CommanderError, command: Command, argv: readonly string[]): ParleyError {
  const path = commandPath(command);
  const see = `See: ${path} --help`;
  if (error.code === 'commander.help')
    return new ParleyError('USAGE', 'A command is missing.', { hint: `${commandLines(command)}\n${see}` });
  const [what = '', suggestion = ''] = error.message
    .replace(/^error: /, '')
    // The value of an unknown option may be a key.
    .replace(/^(unknown option '[^'=]*)=[\s\S]*$/, "$1'")
    .replace(/'([^']+)'/g, (_, word: string) => `'${beginning(word)}'`)
    .split('\n');
  const guess = suggestionFor(error, suggestion.replace(/^\((.*)\)$/, '$1'), command, argv);
  const usage = usageCodes.includes(error.code) ? `Usage: ${commandUsage(command)}` : '';
  // A command to copy is on its own line.
  const first = guess || usage;
  return new ParleyError('USAGE', sentence(what, error, command), {
    hint: first === '' ? '' : `${first}${first.endsWith('?') ? ' ' : '\n'}${see}`,
  });
}

function sentence(what: string, { code }: CommanderError, command: Command): string {
  const excess = command.args[command.registeredArguments.length];
  if (code === 'commander.excessArguments' && excess !== undefined)
    return keyCommands.includes(commandPath(command))
      ? 'Unexpected argument.'
      : `Unexpected argument '${beginning(excess)}'.`;
  const text = what.replace(
    /^command-argument value ('.*') is invalid for argument '(.*?)'/,
    'argument $1 is invalid for <$2>',
  );
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`;
}

/** Asks whether a similar command or option was meant; empty if there is none. `similar` is the suggestion of commander. */
function suggestionFor(
  error: CommanderError,
  similar: string,
  command: Command,
  argv: readonly string[],
): string {
  const option = suggestOption(error, command, argv);
  if (command.parent === null)
    return (
      suggestByForeignName(error, command, argv) || option || similar || suggestCommand(error, command, argv)
    );
  if (command.commands.length > 0) return suggestInGroup(error, command, argv) || option || similar;
  return (
    option ||
    similar ||
    suggestOptionOfWord(error, command, argv) ||
    suggestModes(error, command, argv) ||
    suggestSearch(error, command) ||
    suggestCommand(error, command, argv)
  );
}
