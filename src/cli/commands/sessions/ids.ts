// The session ids that a command was given, as arguments or on stdin. All are checked before anything is done.
import { ParleyError } from '../../../service/errors.ts';
import type { Session } from '../../../service/session.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import type { SessionState } from '../../session-lookup.ts';
import { resolveSessions } from '../../session-reference.ts';
import { readIds } from '../../terminal/session-ids.ts';

/** The distinct ids in their order, in memory: for commands that take their time over each. At most `limit` of them. */
export async function givenIds(
  words: readonly string[],
  limit: number,
  context: CliContext,
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  const take = (id: string) => {
    if (ids.has(id)) return false;
    requireRoom(ids.add(id).size, limit);
    return true;
  };
  await takeIds(words, take, context, 'active');
  return ids;
}

/**
 * Takes each id in order, from the words; from stdin for `-`, or where there are no words and stdin is fed. `take` tells whether an id is
 * new. It is an error to give none, except by `-`: a listing that is piped in may have found nothing. Words may also be ends of ids, and
 * titles; resolves to the sessions that were looked up.
 */
export async function takeIds(
  words: readonly string[],
  take: (id: string) => boolean,
  context: CliContext,
  state: SessionState,
): Promise<readonly Session[]> {
  const fromStdin = words.length === 0 ? context.stdinIsFed : words.includes('-');
  if (fromStdin && words.length > 1) {
    throw new ParleyError('USAGE', 'Ids come as arguments, or from stdin with - alone; not both.');
  }
  let count = 0;
  const takeNext = (id: string) => {
    count += 1;
    return take(id);
  };
  if (fromStdin) await readIds(context.reading('session ids', 'ids may be arguments instead'), takeNext);
  const meant = fromStdin ? [] : await resolveSessions(words, context, state);
  for (const { id } of meant) takeNext(id);
  if (count === 0 && words[0] !== '-') {
    throw new ParleyError('USAGE', 'No session id was given.', {
      hint: 'Name sessions as arguments, or pipe their ids in.',
    });
  }
  return meant.flatMap(({ session }) => session ?? []);
}

export function requireRoom(count: number, limit: number): void {
  if (count <= limit) return;
  throw new ParleyError('USAGE', `There ${limit === 1 ? 'is' : 'are'} more than ${counted(limit, 'id')}.`, {
    hint: 'Nothing was done. If that many are meant, send them in parts, or raise --max where it is offered.',
  });
}
