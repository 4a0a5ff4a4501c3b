// The session that a chat continues: the named one, or with `-c` the last session of this terminal.
import type { CurrentSession } from '../config/current-session.ts';
import { hasCode, ParleyError } from '../service/errors.ts';
import { quoteForShell } from '../system/shell-quote.ts';
import type { CliContext } from './context.ts';
import { resolveSession } from './session-reference.ts';
import { targetOptions } from './target-options.ts';

/** A session and the mode of its last turn. The mode is null if it is not known here. */
export type ContinuedSession = Pick<CurrentSession, 'sessionId' | 'mode'>;

export interface SessionFlags {
  /** A full id, the end of an id, or a title. */
  readonly session?: string;
  readonly continue?: true;
}

/** Null for a new session. The mode of a named session is known if it is the last session of this terminal. */
export async function sessionToContinue(
  flags: SessionFlags,
  context: CliContext,
): Promise<ContinuedSession | null> {
  if (!flags.continue) {
    if (flags.session === undefined) return null;
    const { id, session } = await resolveSession(flags.session, context).catch(withSystemHint);
    return { sessionId: id, mode: session?.mode ?? (await knownMode(id, context)) };
  }
  const current = await context.currentSession();
  if (current !== null) return current;
  // A refused key has no session either, and is reported first.
  const { backend } = await context.open();
  await backend.service.verify(await context.call());
  const elsewhere = await context.lastSession();
  const words = [context.commandPath, ...targetOptions(context.options).map(quoteForShell), '-s'].join(' ');
  throw new ParleyError('USAGE', 'This terminal has no session to continue.', {
    hint: `Start one without -c, or name one with -s (see: parley sessions list). An archived session must be named.${
      elsewhere === null
        ? ''
        : `\nTo continue the last one of another terminal: ${words} ${quoteForShell(elsewhere.sessionId)}`
    }`,
  });
}

/** In other programs `-s` takes the system prompt. A name that can be no id, and is no title either, may be one. */
function withSystemHint(error: unknown): never {
  if (!hasCode(error, 'SESSION_NOT_FOUND')) throw error;
  throw error.with({ hint: `${error.hint}\nFor a system prompt: --system TEXT` });
}

/** A chat that names its session continues even if the record of the last session cannot be read. */
async function knownMode(sessionId: string, context: CliContext): Promise<string | null> {
  try {
    const current = await context.currentSession();
    return current?.sessionId === sessionId ? current.mode : null;
  } catch (error) {
    if (error instanceof ParleyError) return null;
    throw error;
  }
}
