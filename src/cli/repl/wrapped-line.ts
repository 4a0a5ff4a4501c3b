// A line of talk, broken between words where the terminal ends. A command to copy stays in one piece, on rows of its own: the terminal
// itself breaks these, and takes them for one line.
import type { Output } from '../terminal/output.ts';

/** From `parley` on, as long as words follow that no sentence has. */
const command = /\bparley(?: (?!\(|\p{Lu}\p{Ll})[^\s,;)]+)+/gu;
/** To whoever breaks lines, no place to do so. */
const glue = '\u00a0';

/** The line is fit to be shown; where nothing may be laid out it stays as it is. */
export async function wrappedLine(line: string, output: Output): Promise<string> {
  const columns = output.columns();
  if (!output.formats || line.length < columns / 2) return line;
  const { default: wrapAnsi } = await import('wrap-ansi');
  const glued = line.replace(command, (words) => words.replaceAll(' ', glue));
  return wrapAnsi(glued, columns, { hard: false }).replaceAll(glue, ' ');
}
