// Suggests a command for a line that names none: one that has another name elsewhere, as in `parley ls`, or a conversation, as in
// `parley "Hello"`, or `parley -c` without a terminal.
import type { Command, CommanderError } from 'commander';
import { quoteForShell } from '../system/shell-quote.ts';
import { findCommand, shownCommands } from './command-tree.ts';
import { readTypedWords } from './completion/typed-words.ts';

const longestLine = 60;

/** Names that other programs give to a command, and what it is called here. */
const namesElsewhere: Readonly<Record<string, string>> = {
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
  // commander would take these for the beginnings of its own words.
  hello: 'chat hello',
  hi: 'chat hi',
};

/** Words for one act. A group of commands has at most one of them, except where an earlier row names it. */
const wordsOfOneAct: readonly (readonly string[])[] = [
  ['change', 'edit', 'set', 'update'],
  ['add', 'create', 'edit', 'make', 'new'],
  ['del', 'delete', 'remove', 'revoke', 'rm'],
  ['cat', 'get', 'show', 'view'],
  ['find', 'grep', 'search'],
  ['select', 'switch', 'use'],
];

/** A question with the command of a group that does what an unknown word says; empty if there is none. */
export function commandOfGroup({ code, message }: CommanderError, group: Command): string {
  const [, word = ''] = /unknown command '([^']+)'/.exec(message) ?? [];
  if (code !== 'commander.unknownCommand') return '';
  for (const words of wordsOfOneAct.filter((row) => row.includes(word))) {
    const known = shownCommands(group).find((command) => words.includes(command.name()));
    if (known !== undefined) return `Did you mean ${known.name()}?`;
  }
  return '';
}

/** A question with the option for a URL that was given to `login` as a word; empty if none was. */
export function loginWithUrl({ code }: CommanderError, argv: readonly string[]): string {
  const url = argv.find((word) => /^https?:\/\//i.test(word));
  return code === 'commander.excessArguments' && url !== undefined ? didYouMean('login --url', [url]) : '';
}

/** A question with the command that has this name elsewhere; empty if there is none. */
export function commandNamedElsewhere({ code, message }: CommanderError, argv: readonly string[]): string {
  if (code === 'commander.unknownOption' && message.includes("'-v'")) return didYouMean('--version', []);
  const [name = '', ...words] = argv;
  const own = Object.hasOwn(namesElsewhere, name) ? namesElsewhere[name] : undefined;
  return code === 'commander.unknownCommand' && own !== undefined ? didYouMean(own, words) : '';
}

/**
 * A question with the command, or nothing if the line is not a conversation. `asked` is the program, or the REPL, which takes no message.
 */
export function suggestCommand(
  { code, message }: CommanderError,
  asked: Command,
  argv: readonly string[],
): string {
  if (asked.parent !== null) {
    return code === 'commander.excessArguments'
      ? didYouMean('chat', argv.slice(argv.indexOf('repl') + 1))
      : '';
  }
  if (code === 'commander.unknownCommand') return didYouMean('chat', argv);
  const [, flag = ''] = /unknown option '([^']+)'/.exec(message) ?? [];
  if (code !== 'commander.unknownOption' || !knows(asked, 'chat', flag)) return '';
  const hasWords = readTypedWords(['chat', ...argv, ''], asked).position > 0;
  return knows(asked, 'repl', flag) && !hasWords
    ? didYouMean('repl', argv)
    : didYouMean('chat', hasWords ? argv : [...argv, '…']);
}

function knows(program: Command, name: string, flag: string): boolean {
  const options = findCommand(program, name)?.options ?? [];
  const given = flag.startsWith('--') ? flag.replace(/=.*/s, '') : flag.slice(0, 2);
  return options.some(({ long, short }) => long === given || short === given);
}

function didYouMean(command: string, words: readonly string[]): string {
  const line = words.map(quoteForShell).join(' ');
  return `Did you mean: parley ${command} ${line.length > longestLine ? '"…"' : line}`.trimEnd();
}
