// The command for the rest of a listing: the same command line with the cursor, so that no filter is lost.
import { quoteForShell } from '../system/shell-quote.ts';
import type { Printing } from './context.ts';
import { placeOptions } from './same-place.ts';
import { filterLine } from './terminal/filter.ts';

export interface ListingLine {
  /** The command and its options. */
  readonly words: readonly string[];
  /** The words behind the options. */
  readonly operands: readonly string[];
  /** True if the command has `--all`. */
  readonly all: boolean;
}

export async function tellNextPage(
  { words, operands, all }: ListingLine,
  cursor: string,
  context: Printing,
): Promise<void> {
  const ways = all ? ['add --all'] : [];
  // A server chooses the cursor. With a line end in it, the hint would have lines of the server's own.
  if (filterLine(cursor) === cursor)
    ways.push(`go on with: ${commandOf({ words, operands }, cursor, context)}`);
  await context.say(`There are more${ways.length > 0 ? `: ${ways.join(', or ')}` : '.'}`);
}

function commandOf(
  { words, operands }: Pick<ListingLine, 'words' | 'operands'>,
  cursor: string,
  { options }: Printing,
): string {
  const globals = [...(options.json ? ['--json'] : []), ...placeOptions(options)];
  return ['parley', ...words, ...globals, '--cursor', cursor, ...operands].map(quoteForShell).join(' ');
}
