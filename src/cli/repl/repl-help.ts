// The slash commands and the keys of the REPL as plain text, for `parley help repl` and the manual page. /help shows the same at the prompt.
import { doubleSlash, keys } from './help-text.ts';
import { slashCommands } from './slash-commands.ts';

export function replHelp(): string {
  const commands = slashCommands.map(
    ({ name, argument, description }) => [`/${name} ${argument}`.trimEnd(), description] as const,
  );
  return `\nSlash commands:\n${rows([...commands, doubleSlash])}\nKeys:\n${rows(keys)}`;
}

function rows(described: readonly (readonly [string, string])[]): string {
  const width = Math.max(...described.map(([name]) => name.length));
  return described.map(([name, description]) => `  ${name.padEnd(width)}  ${description}\n`).join('');
}
