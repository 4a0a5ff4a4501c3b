// The hint for the next page of a listing: the same command line with the cursor, so that no filter is lost.
import { quoteForShell } from '../system/shell-quote.ts';
import type { Printing } from './context.ts';
import { outputOptions, targetOptions } from './target-options.ts';
import { filterLine } from './terminal/filter.ts';

export interface ListingLine {
  /** The command and its options. */
  readonly words: readonly string[];
  /** The arguments after the options. */
  readonly operands: readonly string[];
  /** True if `--all` can be added to the command. */
  readonly all: boolean;
}

export async function writeNextPageHint(
  { words, operands, all }: ListingLine,
  cursor: string,
  context: Printing,
): Promise<void> {
  const ways = all ? ['add --all'] : [];
  // The server chooses the cursor. A line break in it would put the server's own lines into the hint.
  if (filterLine(cursor) === cursor)
    ways.push(`continue with: ${commandOf({ words, operands }, cursor, context)}`);
  await context.say(`There are more results${ways.length > 0 ? `: ${ways.join(', or ')}` : '.'}`);
}

function commandOf(
  { words, operands }: Pick<ListingLine, 'words' | 'operands'>,
  cursor: string,
  { options }: Printing,
): string {
  const globals = [...outputOptions(options), ...targetOptions(options)];
  return ['parley', ...words, ...globals, '--cursor', cursor, ...operands].map(quoteForShell).join(' ');
}
