// Suggests a command for a command line that names none: one that other programs call differently, as in `parley ls`, or a chat, as in
// `parley "Hello"`, or in `parley -c` without a terminal.
import type { Command, CommanderError } from 'commander';
import { quoteForShell } from '../system/shell-quote.ts';
import { findCommand, shownCommands } from './command-tree.ts';
import { readTypedWords } from './completion/typed-words.ts';

const longestLine = 60;

/** Names of commands in other programs → the command here. */
const foreignNames: Readonly<Record<string, string>> = {
  config: 'doctor',
  delete: 'sessions delete',
  export: 'sessions export',
  history: 'sessions list',
  import: 'sessions import',
  list: 'sessions list',
  ls: 'sessions list',
  rm: 'sessions delete',
  search: 'sessions search',
  status: 'doctor',
  version: '--version',
  // Commander would suggest commands that look similar.
  hello: 'chat hello',
  hi: 'chat hi',
};

/** Words for the same action. A group of commands has at most one of them, unless an earlier row names it. */
const synonyms: readonly (readonly string[])[] = [
  ['change', 'edit', 'set', 'update'],
  ['add', 'create', 'edit', 'make', 'new'],
  ['del', 'delete', 'remove', 'revoke', 'rm'],
  ['cat', 'get', 'show', 'view'],
  ['find', 'grep', 'search'],
  ['select', 'switch', 'use'],
];

/** Suggests the command of a group that has the meaning of an unknown word; empty if there is none. */
export function suggestInGroup({ code, message }: CommanderError, group: Command): string {
  const [, word = ''] = /unknown command '([^']+)'/.exec(message) ?? [];
  if (code !== 'commander.unknownCommand') return '';
  for (const words of synonyms.filter((row) => row.includes(word))) {
    const known = shownCommands(group).find((command) => words.includes(command.name()));
    if (known !== undefined) return `Did you mean ${known.name()}?`;
  }
  return '';
}

/** Suggests the option for a URL that was given to `login` as a word; empty if there is none. */
export function suggestLoginUrl({ code }: CommanderError, argv: readonly string[]): string {
  const url = argv.find((word) => /^https?:\/\//i.test(word));
  return code === 'commander.excessArguments' && url !== undefined ? didYouMean('login --url', [url]) : '';
}

/** Suggests the same words after `modes`, which has the commands that `models` lacks; empty for another failure. */
export function suggestModes({ code }: CommanderError, argv: readonly string[]): string {
  return code === 'commander.excessArguments'
    ? didYouMean('modes', argv.slice(argv.indexOf('models') + 1))
    : '';
}

/** Suggests the command that other programs call so; empty if there is none. */
export function suggestByForeignName({ code, message }: CommanderError, argv: readonly string[]): string {
  if (code === 'commander.unknownOption' && message.includes("'-v'")) return didYouMean('--version', []);
  const [name = '', ...words] = argv;
  const own = Object.hasOwn(foreignNames, name) ? foreignNames[name] : undefined;
  return code === 'commander.unknownCommand' && own !== undefined ? didYouMean(own, words) : '';
}

/** Suggests a chat; empty if the command line does not look like one. `failed` is the program, or the REPL, which takes no message. */
export function suggestCommand(
  { code, message }: CommanderError,
  failed: Command,
  argv: readonly string[],
): string {
  if (failed.parent !== null) {
    return code === 'commander.excessArguments'
      ? didYouMean('chat', argv.slice(argv.indexOf('repl') + 1))
      : '';
  }
  if (code === 'commander.unknownCommand') return didYouMean('chat', argv);
  const [, flag = ''] = /unknown option '([^']+)'/.exec(message) ?? [];
  if (code !== 'commander.unknownOption' || !hasOption(failed, 'chat', flag)) return '';
  const hasWords = readTypedWords(['chat', ...argv, ''], failed).position > 0;
  return hasOption(failed, 'repl', flag) && !hasWords
    ? didYouMean('repl', argv)
    : didYouMean('chat', hasWords ? argv : [...argv, '…']);
}

function hasOption(program: Command, command: string, flag: string): boolean {
  const options = findCommand(program, command)?.options ?? [];
  const name = flag.startsWith('--') ? flag.replace(/=.*/s, '') : flag.slice(0, 2);
  return options.some(({ long, short }) => long === name || short === name);
}

function didYouMean(command: string, words: readonly string[]): string {
  const line = words.map(quoteForShell).join(' ');
  return `Did you mean: parley ${command} ${line.length > longestLine ? '"…"' : line}`.trimEnd();
}
