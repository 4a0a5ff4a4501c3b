// Wraps a notice between words at the width of the terminal. A command to copy is put on a line of its own and not wrapped, because the
// terminal wraps such a line itself and copies it as one line.
import type { Output } from '../terminal/output.ts';

/** Matches a command: `parley`, and the words up to one that belongs to the sentence. */
const command = /\bparley(?: (?!\(|\p{Lu}\p{Ll})[^\s,;)]+)+/gu;
/** A space at which no line is broken. */
const glue = '\u00a0';

/** `line` must be filtered. It is returned unchanged for a stream without layout. */
export async function wrappedLine(line: string, output: Output): Promise<string> {
  const columns = output.columns();
  if (!output.formats || line.length < columns / 2) return line;
  const { default: wrapAnsi } = await import('wrap-ansi');
  const glued = line.replace(command, (words) => words.replaceAll(' ', glue));
  return wrapAnsi(glued, columns, { hard: false }).replaceAll(glue, ' ');
}
