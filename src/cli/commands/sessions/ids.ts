// The session ids that a command was given, as arguments or on stdin: all are checked before anything is done.
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { idsFromWords, readIds } from '../../terminal/session-ids.ts';

export interface GivenId {
  readonly id: string;
  /** True for every occurrence but the first. */
  readonly duplicate: boolean;
}

/** For commands that take their time over each: kept in memory. At most `limit`; none from an empty stdin for `-`. */
export async function givenIds(
  words: readonly string[],
  limit: number,
  context: CliContext,
): Promise<readonly GivenId[]> {
  const given: GivenId[] = [];
  const seen = new Set<string>();
  await takeIds(
    words,
    (id) => {
      given.push({ id, duplicate: seen.has(id) });
      seen.add(id);
      requireRoom(given.length, limit);
    },
    context,
  );
  return given;
}

/**
 * Each in order, from the words; from stdin for `-`, or when stdin is fed and there are no words. At least one, but for `-`:
 * a listing that found nothing leaves nothing to do, which is no fault of the line that it is piped into.
 */
export async function takeIds(
  words: readonly string[],
  take: (id: string) => void,
  context: CliContext,
): Promise<void> {
  const fromStdin = words.length === 0 ? context.stdinIsFed : words.includes('-');
  if (fromStdin && words.length > 1) {
    throw new ParleyError('USAGE', 'Ids come as arguments, or from stdin with - alone; not both.');
  }
  let count = 0;
  const counted = (id: string) => {
    count += 1;
    take(id);
  };
  if (fromStdin) await readIds(context.reading('session ids', 'ids may be arguments instead'), counted);
  else idsFromWords(words).forEach(counted);
  if (count === 0 && words[0] !== '-') {
    throw new ParleyError('USAGE', 'No session id was given.', {
      hint: 'Name sessions as arguments, or pipe their ids in.',
    });
  }
}

export function requireRoom(count: number, limit: number): void {
  if (count <= limit) return;
  throw new ParleyError('USAGE', `There ${limit === 1 ? 'is' : 'are'} more than ${counted(limit, 'id')}.`, {
    hint: 'Nothing was done. If that many are meant, send them in parts, or raise --max where it is offered.',
  });
}
