// The session that a chat continues: the named one, or with `-c` the last one of this terminal.
import type { CurrentSession } from '../config/current-session.ts';
import { ParleyError } from '../service/errors.ts';
import type { CliContext } from './context.ts';
import { meantSession } from './session-reference.ts';

/** A session, and the mode of its last turn; null if that is not known here. */
export type ContinuedSession = Pick<CurrentSession, 'sessionId' | 'mode'>;

export interface SessionFlags {
  /** A full id, the end of one, or a title. */
  readonly session: string | null;
  readonly continue: boolean;
}

/** Null for a new session. The mode of a named session is known here if it is the last one of this terminal. */
export async function sessionToContinue(
  flags: SessionFlags,
  context: CliContext,
): Promise<ContinuedSession | null> {
  if (!flags.continue) {
    if (flags.session === null) return null;
    const { id, session } = await meantSession(flags.session, context);
    return { sessionId: id, mode: session?.mode ?? (await knownMode(id, context)) };
  }
  const current = await context.currentSession();
  if (current !== null) return current;
  // A refused key has no session either. That it is refused is told first.
  const { backend } = await context.open();
  await backend.service.verify(await context.call());
  throw new ParleyError('USAGE', 'There is no session to continue here yet.', {
    hint: 'Start one without -c, or name one with -s (see: parley sessions list).',
  });
}

/** A note that cannot be read does not stop a chat that names its session. */
async function knownMode(sessionId: string, context: CliContext): Promise<string | null> {
  try {
    const current = await context.currentSession();
    return current?.sessionId === sessionId ? current.mode : null;
  } catch (error) {
    if (error instanceof ParleyError) return null;
    throw error;
  }
}
