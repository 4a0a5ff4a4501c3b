// Reads all pages of a listing, one after the other. Fails on a server whose pages never end.
import { ParleyError } from '../service/errors.ts';
import type { Result } from '../service/result.ts';
import { SeenCursors } from './seen-cursors.ts';

/** The most empty pages in a row. A server that searches many sessions may return some. */
const maxEmptyPages = 1000;

interface AnyPage {
  readonly items: readonly unknown[];
  readonly next_cursor: string | null;
}

/** `fetchPage` gets the cursor of the page. `start` is the cursor of the first page. */
export async function* everyPage<Listed extends AnyPage>(
  fetchPage: (cursor: string | null) => Promise<Result<Listed>>,
  start: string | null = null,
): AsyncGenerator<Result<Listed>, void> {
  const seen = new SeenCursors();
  if (start !== null) seen.add(start);
  let emptyPages = 0;
  for (let cursor = start; ; ) {
    const page = await fetchPage(cursor);
    yield page;
    cursor = page.data.next_cursor;
    if (cursor === null) return;
    if (!seen.add(cursor)) throw endless('repeats a cursor');
    emptyPages = page.data.items.length === 0 ? emptyPages + 1 : 0;
    if (emptyPages > maxEmptyPages) throw endless(`has more than ${maxEmptyPages} empty pages in a row`);
  }
}

function endless(problem: string): ParleyError {
  return new ParleyError('BAD_RESPONSE', `The server’s listing ${problem}, so it would never end.`, {
    hint: 'The results so far may be incomplete.',
  });
}
