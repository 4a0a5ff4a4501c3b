// The slash commands and the keys of the REPL as plain text, for `parley help repl` and the manual page. /help shows the same at the prompt.
import { commandRows, keys } from './help-text.ts';
import { slashCommands } from './slash-commands.ts';

export function replHelp(): string {
  return `\nSlash commands:\n${linesOf(commandRows(slashCommands))}\nKeys:\n${linesOf(keys)}`;
}

function linesOf(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, description]) => `  ${name.padEnd(width)}  ${description}\n`).join('');
}
