// Wraps a line of talk between words at the width of the terminal. A command to copy stays in one piece on rows of its own, because the
// terminal wraps such rows itself and copies them as one line.
import type { Output } from '../terminal/output.ts';

/** Matches a command: `parley`, and the words up to one that belongs to the sentence. */
const command = /\bparley(?: (?!\(|\p{Lu}\p{Ll})[^\s,;)]+)+/gu;
/** A space at which no line is broken. */
const glue = '\u00a0';

/** `line` must be filtered. It stays as it is on a stream that is not laid out. */
export async function wrappedLine(line: string, output: Output): Promise<string> {
  const columns = output.columns();
  if (!output.formats || line.length < columns / 2) return line;
  const { default: wrapAnsi } = await import('wrap-ansi');
  const glued = line.replace(command, (words) => words.replaceAll(' ', glue));
  return wrapAnsi(glued, columns, { hard: false }).replaceAll(glue, ' ');
}
