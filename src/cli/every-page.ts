// Reads all pages of a listing, one after the other. It gives up on a server whose pages never end.
import { ParleyError } from '../service/errors.ts';
import type { Result } from '../service/result.ts';
import { SeenCursors } from './seen-cursors.ts';

/** How many empty pages may follow each other. A server that searches many sessions may return some. */
const mostEmptyPages = 1000;

interface AnyPage {
  readonly items: readonly unknown[];
  readonly next_cursor: string | null;
}

/** `ask` gets the cursor of the page; the first one is `start`. */
export async function* everyPage<Listed extends AnyPage>(
  ask: (cursor: string | null) => Promise<Result<Listed>>,
  start: string | null = null,
): AsyncGenerator<Result<Listed>, void> {
  const seen = new SeenCursors();
  if (start !== null) seen.add(start);
  let emptyPages = 0;
  for (let cursor = start; ; ) {
    const page = await ask(cursor);
    yield page;
    cursor = page.data.next_cursor;
    if (cursor === null) return;
    if (!seen.add(cursor)) throw endless('names the same next page a second time');
    emptyPages = page.data.items.length === 0 ? emptyPages + 1 : 0;
    if (emptyPages > mostEmptyPages) throw endless(`has more than ${mostEmptyPages} empty pages in a row`);
  }
}

function endless(problem: string): ParleyError {
  return new ParleyError('BAD_RESPONSE', `The listing of the server ${problem}, so it would never end.`, {
    hint: 'What came of it may not be all.',
  });
}
