// Suggests a command for a command line that names none: one that other programs call differently, as in `parley ls`, or a chat, as in
// `parley "Hello"`, or in `parley -c` without a terminal.
import type { Command, CommanderError } from 'commander';
import { quoteForShell } from '../system/shell-quote.ts';
import { commandPath, findCommand, isOfSessions, shownCommands } from './command-tree.ts';
import { readTypedWords } from './completion/typed-words.ts';

const maxLineCharacters = 60;

/** Names of commands in other programs → the command here. */
const foreignNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ask: 'chat',
    backup: 'store backup',
    config: 'doctor',
    continue: 'repl -c',
    history: 'sessions list',
    log: 'sessions list',
    logs: 'sessions list',
    ls: 'sessions list',
    prompt: 'chat',
    resume: 'repl -s',
    rm: 'sessions delete',
    status: 'doctor',
    whoami: 'verify',
    version: '--version',
    // Commander would suggest commands that look similar.
    hello: 'chat hello',
    hi: 'chat hi',
  }),
);

/** Words for the same action. A group of commands has at most one of them, unless an earlier row names it. */
const synonyms: readonly (readonly string[])[] = [
  ['change', 'edit', 'set', 'update'],
  ['add', 'create', 'edit', 'make', 'new'],
  ['del', 'delete', 'remove', 'revoke', 'rm'],
  ['cat', 'get', 'show', 'view'],
  ['list', 'ls', 'show'],
  ['find', 'grep', 'search'],
  ['default', 'select', 'switch', 'use'],
];

/** Suggests the command of a group that has the meaning of an unknown word; empty if there is none. */
export function suggestInGroup(
  { code, message }: CommanderError,
  group: Command,
  argv: readonly string[],
): string {
  const [, word = ''] = /unknown command '([^']+)'/.exec(message) ?? [];
  if (code !== 'commander.unknownCommand') return '';
  if (group.name() === 'profiles' && ['add', 'create', 'new'].includes(word)) {
    const [name = 'NAME'] = argv.slice(argv.indexOf(word) + 1);
    return didYouMean('login', ['--profile', name, '--url', 'URL']);
  }
  for (const words of synonyms.filter((row) => row.includes(word))) {
    const known = shownCommands(group).find((command) => words.includes(command.name()));
    if (known !== undefined) return `Did you mean ${known.name()}?`;
  }
  return '';
}

/** Suggests the same words after `modes`, which has the commands that `models` lacks; empty for another failure. */
export function suggestModes({ code }: CommanderError, command: Command, argv: readonly string[]): string {
  return code === 'commander.excessArguments' && command.name() === 'models'
    ? didYouMean('modes', argv.slice(argv.indexOf('models') + 1))
    : '';
}

/** Suggests a search for words that were given to `sessions list`; empty for another failure. */
export function suggestSearch({ code }: CommanderError, command: Command): string {
  return code === 'commander.excessArguments' && commandPath(command) === 'parley sessions list'
    ? didYouMean('sessions search', command.args)
    : '';
}

/** Suggests the command that other programs call so, or that `sessions` has; empty if there is none. */
export function suggestByForeignName(
  { code, message }: CommanderError,
  program: Command,
  argv: readonly string[],
): string {
  if (code === 'commander.unknownOption' && message.includes("'-v'")) return didYouMean('--version', []);
  const [name = '', ...words] = argv;
  const isLast = name === 'resume' && words.length === 0;
  const foreign = isLast ? 'repl -c' : foreignNames.get(name);
  const own = isOfSessions(program, name) ? `sessions ${name}` : foreign;
  return code === 'commander.unknownCommand' && own !== undefined ? didYouMean(own, words) : '';
}

/** Suggests a chat; empty if the command line does not look like one. The REPL, for example, takes no message. */
export function suggestCommand(
  { code, message }: CommanderError,
  failed: Command,
  argv: readonly string[],
): string {
  if (failed.parent !== null) {
    return code === 'commander.excessArguments' && failed.name() === 'repl'
      ? didYouMean('chat', argv.slice(argv.indexOf('repl') + 1))
      : '';
  }
  if (code === 'commander.unknownCommand') {
    // The whole command line in quotes, as in `parley "sessions list"`.
    const [name = '', ...rest] = argv[0]?.trim().split(/\s+/) ?? [];
    const isQuotedLine = rest.length > 0 && findCommand(failed, name) !== undefined;
    return isQuotedLine ? didYouMean(name, [...rest, ...argv.slice(1)]) : didYouMean('chat', argv);
  }
  const [, flag = ''] = /unknown option '([^']+)'/.exec(message) ?? [];
  if (code !== 'commander.unknownOption' || !hasOption(failed, 'chat', flag)) return '';
  const hasWords = readTypedWords(['chat', ...argv, ''], failed).position > 0;
  // At a terminal, the REPL would have begun.
  return didYouMean('chat', hasWords ? argv : [...argv, '…']);
}

function hasOption(program: Command, command: string, flag: string): boolean {
  const options = findCommand(program, command)?.options ?? [];
  const name = flag.startsWith('--') ? flag.replace(/=.*/s, '') : flag.slice(0, 2);
  return options.some(({ long, short }) => long === name || short === name);
}

export function didYouMean(command: string, words: readonly string[]): string {
  const line = words.map(quoteForShell).join(' ');
  const rest = line.length > maxLineCharacters ? '"…"' : line;
  return ['Did you mean: parley', command, rest].filter((part) => part !== '').join(' ');
}
