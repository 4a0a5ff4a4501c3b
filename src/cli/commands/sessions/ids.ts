// Reads the session ids of a command from its arguments or from stdin. All are checked before anything is done.
import { ParleyError } from '../../../service/errors.ts';
import type { Session } from '../../../service/session.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import type { SessionState } from '../../session-lookup.ts';
import { resolveSessions } from '../../session-reference.ts';
import { readIds } from '../../terminal/session-ids.ts';

/** The most ids of a command that does much work per session. */
const maxIds = 1_000_000;

/**
 * The distinct ids in their order, in memory, for commands that do much work per session. `hasFilters`: whether the command can also select
 * sessions without their ids.
 */
export async function readGivenIds(
  words: readonly string[],
  context: CliContext,
  hasFilters = true,
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  const take = (id: string) => {
    if (ids.has(id)) return false;
    requireAtMost(ids.add(id).size, maxIds);
    return true;
  };
  await takeIds(words, take, context, 'active', hasFilters);
  return ids;
}

/** True for `-`, and if there are no words and stdin is a pipe or a file. */
export function areOnStdin(words: readonly string[], context: CliContext): boolean {
  return words.length === 0 ? context.stdinIsFed : words.includes('-');
}

/**
 * Passes each id to `take`, in order, from the words or from stdin. `take` returns whether an id is new. Having no ids is an error, except with `-`: the listing that is piped in may be empty. Words may also be ends
 * of ids or titles. Resolves to the sessions that were looked up.
 */
export async function takeIds(
  words: readonly string[],
  take: (id: string) => boolean,
  context: CliContext,
  state: SessionState,
  hasFilters = true,
): Promise<readonly Session[]> {
  const fromStdin = areOnStdin(words, context);
  if (fromStdin && words.length > 1) {
    throw new ParleyError('USAGE', 'Ids cannot be given both as arguments and on stdin (-).');
  }
  let count = 0;
  const takeNext = (id: string) => {
    count += 1;
    return take(id);
  };
  if (fromStdin) await readIds(context.reading('session ids', 'ids may be arguments instead'), takeNext);
  const resolved = fromStdin ? [] : await resolveSessions(words, context, state);
  for (const { id } of resolved) takeNext(id);
  if (count === 0 && words[0] !== '-') {
    const others = hasFilters ? ` Other ways to select sessions: ${context.commandPath} --help` : '';
    throw new ParleyError('USAGE', 'No session id was given.', {
      hint: `Pass ids as arguments, or pipe them in.${others}`,
    });
  }
  return resolved.flatMap(({ session }) => session ?? []);
}

/** `option` is the one that sets the limit. Without it, the limit is fixed. */
export function requireAtMost(count: number, limit: number, option?: '--max'): void {
  if (count <= limit) return;
  const [message, advice] =
    option === undefined
      ? [`There are more than ${counted(limit, 'id')}.`, 'Split them.']
      : [`More than ${counted(limit, 'session')} would be changed.`, `To allow more: ${option} NUMBER`];
  throw new ParleyError('USAGE', message, { hint: `Nothing was done. ${advice}` });
}
