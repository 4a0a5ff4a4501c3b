// The session ids that a command was given, as arguments or on stdin: all are checked, and in the list, before anything is done.
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import type { IdList } from '../../session-batch/id-list.ts';
import { idsFromWords, readIds } from '../../terminal/session-ids.ts';

/** Ids from the words; from stdin for `-`, or when stdin is fed and there are no words. At least one, at most `limit`. */
export async function collectIds(
  words: readonly string[],
  list: IdList,
  limit: number,
  context: CliContext,
): Promise<void> {
  const fromStdin = words.length === 0 ? context.stdinIsFed : words.includes('-');
  if (fromStdin && words.length > 1) {
    throw new ParleyError('USAGE', 'Ids come as arguments, or from stdin with - alone; not both.');
  }
  const take = (id: string) => {
    list.add(id);
    requireRoom(list, limit);
  };
  if (fromStdin) await readIds(context.reading('session ids', 'ids may be arguments instead'), take);
  else idsFromWords(words).forEach(take);
  if (list.count === 0) {
    throw new ParleyError('USAGE', 'No session id was given.', {
      hint: 'Name sessions as arguments, or pipe their ids in.',
    });
  }
}

export function requireRoom(list: IdList, limit: number): void {
  if (list.count <= limit) return;
  throw new ParleyError('USAGE', `There are more than ${limit} ids.`, {
    hint: 'Nothing was done. If that many are meant, send them in parts, or raise --max where it is offered.',
  });
}
