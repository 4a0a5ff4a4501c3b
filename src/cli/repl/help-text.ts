// The text of /help: the slash commands, and the keys that are not obvious. A narrow terminal gets the whole text, too.
import type { Output } from '../terminal/output.ts';
import { type OutputText, type TerminalText, terminalText } from '../terminal/terminal-text.ts';

interface CommandHelp {
  readonly name: string;
  readonly argument: string;
  readonly description: string;
}

/** A name, and what it does. */
type HelpRow = readonly [name: string, description: string];

export const keys: readonly HelpRow[] = [
  ['Enter', 'send'],
  ['Alt-Enter, \\ Enter', 'start a new line; between """ and """, Enter does too'],
  ['Shift-Enter', 'the same, if the terminal reports it'],
  ['Ctrl-C', 'stop the reply and keep its first part; clear the line'],
  ['Ctrl-D', 'leave'],
  ['Up, Down, Ctrl-R', 'browse the history; search it'],
  ['Tab', 'complete a command, mode, session or file'],
  ['Ctrl-A, Ctrl-E', 'move to the start or the end of the line'],
  ['Alt-B, Alt-F', 'move one word back or forward'],
  ['Ctrl-W, Ctrl-U', 'cut the previous word, or the line before the cursor'],
  ['Alt-D, Ctrl-K', 'cut the next word, or the line after the cursor'],
  ['Ctrl-Y, Ctrl-_', 'insert the text that was cut; undo'],
  ['Ctrl-X Ctrl-E', 'continue writing in $VISUAL or $EDITOR'],
  ['Ctrl-L, Ctrl-Z', 'clear the screen; suspend (fg resumes)'],
];

const gap = 2;
/** If the descriptions have fewer columns than this, they are printed below the names. */
const minDescriptionColumns = 30;

export function commandRows(commands: readonly CommandHelp[]): readonly HelpRow[] {
  return [
    ...commands.map(
      ({ name, argument, description }): HelpRow => [`/${name} ${argument}`.trimEnd(), description],
    ),
    ['@PATH', 'in a typed message: add this file to it (@"MY PATH" if the path has spaces)'],
    ['//', 'at the start: send a message that begins with a slash'],
  ];
}

export async function helpText(commands: readonly CommandHelp[], output: Output): Promise<TerminalText> {
  const { default: wrapAnsi } = await import('wrap-ansi');
  const rows = [...commandRows(commands), ...keys];
  const { bold } = await output.style();
  const columns = output.columns();
  const left = Math.max(...rows.map(([name]) => name.length)) + gap;
  const isNarrow = columns - left < minDescriptionColumns;
  const indent = isNarrow ? gap : left;
  const room = Math.max(1, columns - indent);
  const lines = rows.flatMap<OutputText>(([name, description]) => {
    const described = wrapAnsi(description, room, { hard: true }).split('\n');
    const first = isNarrow
      ? [bold(name)]
      : [terminalText`${bold(name)}${' '.repeat(left - name.length)}${described.shift() ?? ''}`];
    return [...first, ...described.map((line) => ' '.repeat(indent) + line)];
  });
  const footer = wrapAnsi('A command can be shortened to a unique prefix: /q', columns, { hard: true });
  return terminalText`${[...lines, '', footer].map((line) => terminalText`${line}\n`)}`;
}
