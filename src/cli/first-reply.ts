// What is said once, after the first reply of the default mode: who replied, and how to choose a language model.
import type { CliContext } from './context.ts';

/** Null if it is not the first turn here, or if nobody sees it. Call it before the turn. */
export async function noteOfFirstReply(mode: string, context: CliContext): Promise<string | null> {
  const { stdout, options, target } = context;
  const isSeen = stdout.isTerminal && !options.quiet;
  if (!isSeen || mode !== 'eliza' || target.url !== null || (await context.hadSession())) return null;
  return 'eliza is no language model. To talk to one: parley setup';
}
