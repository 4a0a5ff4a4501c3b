// The mode of a turn in a session that may exist: the named one, else that of the session's last turn, else the usual one. New settings
// of the session are stored on the way, because the session is read for them.
import type { CliContext } from './context.ts';
import { chooseMode } from './mode-choice.ts';
import type { ContinuedSession } from './session-choice.ts';
import { withSession } from './session-reference.ts';
import { changeSettings, type GivenSettings, isNothing } from './setting-options.ts';

export interface ModeOfTurn {
  /** Null: the service is to go on in the session's own. */
  readonly mode: string | null;
  /** The mode of the session's last turn, if it is known. */
  readonly modeBefore: string | null;
  /** True for a session of another program, which has messages but no mode here, and for which none was named. */
  readonly isFirstHere: boolean;
}

type KnownMode = ModeOfTurn & { readonly mode: string };

/**
 * The same without a look at the session, for a service that goes on in its mode. It refuses that for a session that has none, and the
 * service of a server may be another than it was: then the mode is found by {@link sessionMode}.
 */
export async function modeToSend(
  named: string | null,
  session: ContinuedSession | null,
  given: GivenSettings,
  context: CliContext,
): Promise<ModeOfTurn> {
  const isLookedUp = session === null || session.mode !== null || named !== null || !isNothing(given);
  if (isLookedUp) return sessionMode(named, session, given, context);
  const sessionsOwn = { mode: null, modeBefore: null, isFirstHere: false };
  if (await goesOnInItsMode(context)) return sessionsOwn;
  const { backend } = await context.open();
  if (backend.extensions !== null) return sessionMode(named, session, given, context);
  // A server that is named by its URL says what it offers in its first answer, here the list of its modes.
  const usual = await chooseMode(null, context);
  return (await goesOnInItsMode(context)) ? sessionsOwn : sessionMode(null, session, given, context, usual);
}

/** Only a service that says so may get a message without a mode: another one could choose a mode for it. */
async function goesOnInItsMode(context: CliContext): Promise<boolean> {
  const { backend } = await context.open();
  // What a server told last may be more than it told at login, and is all that is known of one that is named by its URL.
  const last = context.target.url === null ? null : await context.lastSession().catch(() => null);
  return (last?.extensions ?? backend.extensions)?.includes('mode') ?? false;
}

/**
 * `named` is the mode that an option or a template names. A session is read only if its settings change, or if its mode is not known here
 * and the service keeps it. `usual` is the mode of a new session, if it is known already.
 */
export async function sessionMode(
  named: string | null,
  session: ContinuedSession | null,
  given: GivenSettings,
  context: CliContext,
  usual: string | null = null,
): Promise<KnownMode> {
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
  const mode = usual ?? (await chooseMode(named, context));
  // A server says what it keeps in its first answer, which may be the list of modes.
  if (named === null && !isRead && keepsModes()) await read();
  const isFirstHere = named === null && modeBefore === null && hasMessages && keepsModes();
  return { mode: named === null ? (modeBefore ?? mode) : mode, modeBefore, isFirstHere };
}
