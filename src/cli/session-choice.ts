// The session that a chat continues: the named one, or with `-c` the last one of this terminal.
import type { CurrentSession } from '../config/current-session.ts';
import { ParleyError } from '../service/errors.ts';
import type { CliContext } from './context.ts';

export interface SessionFlags {
  readonly session: string | null;
  readonly continue: boolean;
}

/** Null for a new session. The mode of a named session is known here if it is the last one of this terminal. */
export async function sessionToContinue(
  flags: SessionFlags,
  context: CliContext,
): Promise<CurrentSession | null> {
  if (!flags.continue && flags.session === null) return null;
  const current = await context.currentSession();
  if (!flags.continue && flags.session !== null)
    return { sessionId: flags.session, mode: current?.sessionId === flags.session ? current.mode : null };
  if (current !== null) return current;
  throw new ParleyError('USAGE', 'There is no session to continue here yet.', {
    hint: 'Start one without -c, or name one with -s (see: parley sessions list).',
  });
}
