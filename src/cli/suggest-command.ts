// Suggests a command for a line that names none: one that has another name elsewhere, as in `parley ls`, or a conversation, as in
// `parley "Hello"`, or `parley -c` without a terminal.
import type { Command, CommanderError } from 'commander';
import { quoteForShell } from '../system/shell-quote.ts';
import { findCommand } from './command-tree.ts';
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
