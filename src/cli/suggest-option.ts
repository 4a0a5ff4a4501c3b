// Suggests an option for a command line with an unknown one: one that other programs call differently, as in `-q`, or one of which only the
// beginning was typed. Also suggests the option of a value that was given as a word, as in `parley serve 8080`.
import type { Command, CommanderError, Option } from 'commander';
import { commandPath } from './command-tree.ts';
import { didYouMean } from './suggest-command.ts';

/** Options of other programs → the options here. The first one that the command has is suggested. */
const foreignOptions: Readonly<Record<string, readonly string[]>> = {
  '-a': ['--file'],
  '--attachment': ['--file'],
  '--cid': ['--session'],
  '--conversation': ['--session'],
  '--format': ['--format', '--json'],
  '--model': ['--mode'],
  '-o': ['--output', '--param', '--json'],
  '--option': ['--param'],
  '--output': ['--output', '--json'],
  '--output-format': ['--format', '--json'],
  '-n': ['--limit'],
  '-l': ['--limit'],
  '-p': ['--port'],
  '-q': ['--quiet'],
  '-r': ['--session'],
  '--resume': ['--session'],
  '--silent': ['--quiet'],
  '--no-log': ['--ephemeral'],
  '-S': ['--system'],
  '-t': ['--title'],
  '--name': ['--title'],
  '-v': ['--verbose', '--debug'],
  '--verbose': ['--debug'],
  '-x': ['--extract-code'],
  '--force': ['--yes'],
};

/** The options with which other programs take the message. */
const promptOptions: readonly string[] = ['-p', '--prompt', '--message'];

/** Options of other programs → the command here. */
const foreignCommands: Readonly<Record<string, string>> = {
  '--info': 'doctor',
  '--list': 'sessions list',
  '--list-models': 'models',
  '--list-sessions': 'sessions list',
};

/** Commands → the option that a lone word stands for. */
const optionsOfWords: Readonly<Record<string, string>> = {
  'parley login': '--url',
  'parley serve': '--port',
  'parley sessions create': '--title',
  'parley sessions purge': '--deleted-before',
  'parley usage': '--by',
};

/** Suggests an option for an unknown one; empty if there is none. */
export function suggestOption(
  { code, message }: CommanderError,
  command: Command,
  argv: readonly string[],
): string {
  const [, typed = ''] = /unknown option '([^'=]+)/.exec(message) ?? [];
  if (code !== 'commander.unknownOption') return '';
  const isConversation = ['chat', 'repl'].includes(command.name());
  if (isConversation && promptOptions.includes(typed))
    return didYouMean(
      'chat',
      argv.slice(argv[0] === command.name() ? 1 : 0).filter((word) => word !== typed),
    );
  if (isConversation && Object.hasOwn(foreignCommands, typed))
    return didYouMean(foreignCommands[typed] ?? '', []);
  const help = command.createHelp();
  const names = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)].map(
    ({ long }) => long ?? '',
  );
  const foreign = Object.hasOwn(foreignOptions, typed) ? foreignOptions[typed] : undefined;
  const known = foreign?.find((name) => names.includes(name));
  const candidates = known === undefined ? names.filter((name) => begins(name, typed)) : [known];
  if (candidates.length === 0 || candidates.length > 3) return '';
  return `Did you mean ${candidates.length === 1 ? '' : 'one of '}${candidates.join(', ')}?`;
}

/** A shorter beginning says too little. */
function begins(name: string, typed: string): boolean {
  return typed.length > 3 && name.startsWith(typed);
}

/** Suggests the option whose value was given as a word; empty if there is none. */
export function suggestOptionOfWord(
  { code }: CommanderError,
  command: Command,
  argv: readonly string[],
): string {
  const [word, ...others] = command.args;
  if (word === undefined || others.length > 0 || command.registeredArguments.length > 0) return '';
  const option = [...command.options, ...command.createHelp().visibleGlobalOptions(command)].find((one) =>
    code === 'commander.missingMandatoryOptionValue'
      ? one.mandatory && command.getOptionValue(one.attributeName()) === undefined
      : code === 'commander.excessArguments' && one.long === optionsOfWords[commandPath(command)],
  );
  // A number alone is a number of days.
  const value = [word, `${word}d`].find((text) => option !== undefined && takes(option, text));
  if (option === undefined || value === undefined) return '';
  const at = argv.lastIndexOf(word);
  return didYouMean('', [...argv.slice(0, at), option.long ?? '', value, ...argv.slice(at + 1)]);
}

function takes(option: Option, text: string): boolean {
  if (option.long === '--url') return /^https?:\/\//i.test(text);
  try {
    option.parseArg?.(text, undefined);
    return true;
  } catch {
    return false;
  }
}
