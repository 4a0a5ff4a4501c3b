// Wraps notices between words at the width of the terminal. A command to copy is not wrapped, because the terminal wraps such a line itself and
// copies it as one line.
import type { Output } from './output.ts';
import { maxColumns } from './text-width.ts';

/** Matches a command: `parley`, and the words up to one that belongs to the sentence. */
const command = /\bparley(?: (?!\(|\p{Lu}\p{Ll})[^\s,;)]+)+/gu;
/** Matches a command with any words up to the end of the line, or up to a further sentence if the command has no quotation marks. */
const commandAfterColon = /(?<=: )parley (?:[^'"]*?(?=\. \p{Lu})|.*$)/u;
/** A space at which no line is broken. */
export const glue = '\u00a0';

/** Wraps a paragraph that may name commands. `line` must be filtered. It is returned unchanged for a stream without layout. */
export async function wrappedLine(line: string, output: Output): Promise<string> {
  const columns = output.columns();
  if (!output.formats || maxColumns(line) <= columns) return line;
  return wrapText(line.replace(command, glueWords), columns);
}

/** Wraps each line of a notice. The continued rows of an indented line, such as an item of a list, are indented by two columns more. */
export async function wrappedNotice(text: string, output: Output): Promise<string> {
  const columns = output.columns();
  if (!output.formats || maxColumns(text) <= columns) return text;
  const lines = text.split('\n').map(async (line) => {
    if (maxColumns(line) <= columns) return line;
    const indent = ' '.repeat(line.search(/\S|$/));
    const hanging = indent === '' ? '' : `${indent}  `;
    const rows = await wrapText(
      line.trimStart().replace(commandAfterColon, glueWords),
      columns - hanging.length,
    );
    return indent + rows.replaceAll('\n', `\n${hanging}`);
  });
  return (await Promise.all(lines)).join('\n');
}

async function wrapText(text: string, columns: number): Promise<string> {
  // An upgrade may have removed the file of this package. The notice is then shown as it is.
  const wrap = await import('wrap-ansi').catch(() => null);
  return (wrap?.default(text, columns, { hard: false }) ?? text).replaceAll(glue, ' ');
}

function glueWords(words: string): string {
  return words.replaceAll(' ', glue);
}
