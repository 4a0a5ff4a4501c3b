// The session that a chat continues: the named one, or with `-c` the last one of this terminal.
import { ParleyError } from '../service/errors.ts';
import type { CliContext } from './context.ts';

export interface SessionFlags {
  readonly session: string | null;
  readonly continue: boolean;
}

/** Null for a new session. */
export async function sessionToContinue(flags: SessionFlags, context: CliContext): Promise<string | null> {
  if (!flags.continue) return flags.session;
  const current = await context.currentSession();
  if (current !== null) return current;
  throw new ParleyError('USAGE', 'There is no session to continue here yet.', {
    hint: 'Start one without -c, or name one with -s (see: parley sessions list).',
  });
}
