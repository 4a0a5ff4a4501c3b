// The command for the rest of a listing: the same command line with the cursor, so that no filter is lost.
import { quoteForShell } from '../system/shell-quote.ts';
import type { Printing } from './context.ts';
import { placeOptions } from './same-place.ts';

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
  const { options } = context;
  const globals = [...(options.json ? ['--json'] : []), ...placeOptions(options)];
  const line = ['parley', ...words, ...globals, '--cursor', cursor, ...operands].map(quoteForShell).join(' ');
  await context.say(`There are more: ${all ? 'add --all, or ' : ''}go on with: ${line}`);
}
