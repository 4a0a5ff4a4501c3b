// The mode of a turn in a session that may exist: the named one, else that of the session's last turn, else the usual one. New settings
// of the session are stored on the way, because the session is read for them.
import type { CurrentSession } from '../config/current-session.ts';
import type { CliContext } from './context.ts';
import { chooseMode } from './mode-choice.ts';
import { withSession } from './session-reference.ts';
import { changeSettings, type GivenSettings, isNothing } from './setting-options.ts';

export interface ModeOfTurn {
  readonly mode: string;
  /** The mode of the session's last turn, if it is known. */
  readonly modeBefore: string | null;
  /** True for a session of another program, which has messages but no mode here, and for which none was named. */
  readonly isFirstHere: boolean;
}

/**
 * `named` is the mode that an option or a template names. A session is read only if its settings change, or if its mode is not known here
 * and the service keeps it.
 */
export async function sessionMode(
  named: string | null,
  session: CurrentSession | null,
  given: GivenSettings,
  context: CliContext,
): Promise<ModeOfTurn> {
  if (session === null) {
    return { mode: await chooseMode(named, context), modeBefore: null, isFirstHere: false };
  }
  const { sessionId } = session;
  const { backend } = await context.open();
  const keepsModes = () => backend.extensions?.includes('settings') ?? false;
  let modeBefore = session.mode;
  let isRead = false;
  let hasMessages = false;
  const read = async () => {
    isRead = true;
    const data = await withSession(sessionId, context, async (id) => {
      return (await backend.service.getSession(await context.call(), id)).data;
    });
    modeBefore = data.mode ?? modeBefore;
    hasMessages = data.message_count > 0;
    return data;
  };
  if (!isNothing(given)) await changeSettings(await read(), given, context);
  // At the embedded service the look costs no request, so a named mode is compared with the one before, too.
  const isWanted = named === null || context.target.url === null;
  if (isWanted && modeBefore === null && !isRead && keepsModes()) await read();
  if (named === null && modeBefore !== null) return { mode: modeBefore, modeBefore, isFirstHere: false };
  const mode = await chooseMode(named, context);
  // A server says what it keeps in its first answer, which may be the list of modes.
  if (named === null && !isRead && keepsModes()) await read();
  const isFirstHere = named === null && modeBefore === null && hasMessages && keepsModes();
  return { mode: named === null ? (modeBefore ?? mode) : mode, modeBefore, isFirstHere };
}
