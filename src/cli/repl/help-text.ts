// What /help says: the slash commands, and the keys that are not obvious.
import type { Output } from '../terminal/output.ts';
import { align } from '../terminal/table.ts';

interface Described {
  readonly name: string;
  readonly argument: string;
  readonly description: string;
}

const keys: readonly (readonly [string, string])[] = [
  ['Enter', 'send'],
  ['Alt-Enter, \\ Enter', 'a new line; between """ and """, Enter is one too'],
  ['Ctrl-C', 'stop the reply and keep it; clear the line'],
  ['Ctrl-D', 'leave'],
  ['Up, Down, Ctrl-R', 'what was typed before; look for it'],
  ['Tab', 'complete a command, a mode, a session, a file'],
  ['Ctrl-X Ctrl-E', 'go on writing in $VISUAL or $EDITOR'],
  ['Ctrl-L, Ctrl-Z', 'clear the screen; stop (fg goes on)'],
  ['//', 'at the start: a message that begins with a slash'],
];

export async function helpText(commands: readonly Described[], output: Output): Promise<string> {
  const { default: stringWidth } = await import('string-width');
  const rows = [
    ...commands.map(({ name, argument, description }) => [`/${name} ${argument}`.trimEnd(), description]),
    ...keys,
  ];
  const columns = [{ title: 'COMMAND' }, { title: 'A beginning that no other has will do', flexible: true }];
  const [titles = '', ...lines] = align(columns, rows, output.columns(), stringWidth);
  const { bold } = await output.style();
  return [bold(titles), ...lines].map((line) => `${line}\n`).join('');
}
