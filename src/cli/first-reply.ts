// What is said once, after the first reply of the default mode: who replied, and how to choose a language model.
import { ParleyError } from '../service/errors.ts';
import type { CliContext } from './context.ts';

/** Null if it is not the first turn here, or if nobody sees it. Call it before the turn. */
export async function noteOfFirstReply(mode: string | null, context: CliContext): Promise<string | null> {
  const { stdout, options, target } = context;
  const isSeen = stdout.isTerminal && !options.quiet;
  if (!isSeen || mode !== 'eliza' || target.url !== null || (await hadSession(context))) return null;
  return 'eliza is no language model. To talk to one: parley setup';
}

/** True also if that cannot be known. */
async function hadSession(context: CliContext): Promise<boolean> {
  try {
    return (await context.lastSession()) !== null;
  } catch (error) {
    if (error instanceof ParleyError) return true;
    throw error;
  }
}
