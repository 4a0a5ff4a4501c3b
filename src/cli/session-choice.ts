// The session to go on with: the one that is named, or for -c the one last used in this terminal.
import { ParleyError } from '../service/errors.ts';
import type { CliContext } from './context.ts';

export interface SessionInput {
  readonly session: string | null;
  readonly continue: boolean;
}

export async function sessionToContinue(input: SessionInput, context: CliContext): Promise<string | null> {
  if (!input.continue) return input.session;
  const current = await context.currentSession();
  if (current !== null) return current;
  throw new ParleyError('USAGE', 'There is no session to continue here yet.', {
    hint: 'Start one without -c, or name one with -s (see: parley sessions list).',
  });
}
