// The session ids that a command was given: as arguments, or on stdin. All are checked before anything is done.
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { type GivenId, idsFromWords, readIds } from '../../terminal/session-ids.ts';

/** Ids from the words; from stdin for `-`, or when stdin is fed and there are no words. At least one, at most `limit`. */
export async function givenIds(
  words: readonly string[],
  limit: number,
  context: CliContext,
): Promise<readonly GivenId[]> {
  const fromStdin = words.length === 0 ? context.stdinIsFed : words.includes('-');
  if (fromStdin && words.length > 1) {
    throw new ParleyError('USAGE', 'Ids come as arguments, or from stdin with - alone; not both.');
  }
  const ids = fromStdin
    ? await readIds(context.reading('session ids', 'ids may be arguments instead'), limit)
    : idsFromWords(words);
  if (ids.length === 0) {
    throw new ParleyError('USAGE', 'No session id was given.', {
      hint: 'Name sessions as arguments, or pipe their ids in.',
    });
  }
  return ids;
}
