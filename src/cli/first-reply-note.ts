// The note after the very first reply of the default mode: who replied, and how to set up a language model.
import { ParleyError } from '../service/errors.ts';
import type { CliContext } from './context.ts';

/** Null if this is not the first turn here, or if nobody would see the note. Call it before the turn. */
export async function firstReplyNote(mode: string | null, context: CliContext): Promise<string | null> {
  const { stdout, options, target } = context;
  const isSeen = stdout.isTerminal && !options.quiet;
  if (!isSeen || mode !== 'eliza' || target.url !== null || (await hadSession(context))) return null;
  return 'eliza is not a language model. To set one up: parley setup';
}

/** True also if the note of the last session cannot be read. */
async function hadSession(context: CliContext): Promise<boolean> {
  try {
    return (await context.lastSession()) !== null;
  } catch (error) {
    if (error instanceof ParleyError) return true;
    throw error;
  }
}
