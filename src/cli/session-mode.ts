// The mode of a turn: the named one, else that of the session's last turn, else the default. Also stores new settings of an existing session,
// because both need to read the session.
import { offers } from '../service/backend.ts';
import type { CliContext } from './context.ts';
import { chooseMode, refuseUnknownMode } from './mode-choice.ts';
import type { ContinuedSession } from './session-choice.ts';
import { fetchNamedSession } from './session-reference.ts';
import { changeSettings, type GivenSettings, isEmpty } from './setting-options.ts';

export interface ModeOfTurn {
  /** Null if the service is to use the session's mode. */
  readonly mode: string | null;
  /** The mode of the session's last turn; null if it is not known or there was no turn. */
  readonly previousMode: string | null;
  /** True for an imported session, which has messages but no mode yet, if no mode was named. */
  readonly isFirstTurnHere: boolean;
}

type KnownMode = ModeOfTurn & { readonly mode: string };

/**
 * The mode to send, without reading the session where the service can use the session's mode itself. The service refuses this for a session
 * without a mode, and a server may have lost the feature; the caller then uses {@link sessionMode}.
 */
export async function modeToSend(
  named: string | null,
  session: ContinuedSession | null,
  settings: GivenSettings,
  context: CliContext,
): Promise<ModeOfTurn> {
  const isResolvedHere = session === null || session.mode !== null || named !== null || !isEmpty(settings);
  if (isResolvedHere) return sessionMode(named, session, settings, context);
  const modeOfSession = { mode: null, previousMode: null, isFirstTurnHere: false };
  if (await continuesInSessionMode(context)) return modeOfSession;
  const { backend } = await context.open();
  if (backend.extensions !== null) return sessionMode(named, session, settings, context);
  // A server given by its URL reports its extensions with its first response, here the list of its modes.
  const defaultMode = await chooseMode(null, context);
  return (await continuesInSessionMode(context))
    ? modeOfSession
    : sessionMode(null, session, settings, context, defaultMode);
}

/** True if the service announces that it continues a session in its own mode. Another service could choose any mode. */
async function continuesInSessionMode(context: CliContext): Promise<boolean> {
  const { backend } = await context.open();
  // The extensions of the last session may be newer than those stored at login, and are the only ones known for a server given by its URL.
  const last = context.target.url === null ? null : await context.lastSession().catch(() => null);
  return (last?.extensions ?? backend.extensions)?.includes('mode') ?? false;
}

/**
 * `named` is the mode from an option or a template. The session is read only if its settings change, or if its mode is not known here but
 * stored by the service. `defaultMode` is the mode of a new session, if the caller knows it.
 */
export async function sessionMode(
  named: string | null,
  session: ContinuedSession | null,
  settings: GivenSettings,
  context: CliContext,
  defaultMode: string | null = null,
): Promise<KnownMode> {
  if (session === null) {
    return { mode: await chooseMode(named, context), previousMode: null, isFirstTurnHere: false };
  }
  const { sessionId } = session;
  const { backend } = await context.open();
  const keepsModes = () => offers(backend, 'settings');
  let previousMode = session.mode;
  let isRead = false;
  let hasMessages = false;
  const read = async () => {
    isRead = true;
    const data = await fetchNamedSession(sessionId, context);
    previousMode = data.mode ?? previousMode;
    hasMessages = data.message_count > 0;
    return data;
  };
  if (!isEmpty(settings)) {
    if (named !== null) await refuseUnknownMode(named, context);
    await changeSettings(await read(), settings, context);
  }
  // Reading is cheap at the embedded service, so a named mode is also compared with the previous one.
  const needsPrevious = named === null || context.target.url === null;
  if (needsPrevious && previousMode === null && !isRead && keepsModes()) await read();
  if (named === null && previousMode !== null)
    return { mode: previousMode, previousMode, isFirstTurnHere: false };
  const mode = defaultMode ?? (await chooseMode(named, context));
  // A server reports its extensions with its first response, which may be the list of modes.
  if (named === null && !isRead && keepsModes()) await read();
  const isFirstTurnHere = named === null && previousMode === null && hasMessages && keepsModes();
  return { mode: named === null ? (previousMode ?? mode) : mode, previousMode, isFirstTurnHere };
}
