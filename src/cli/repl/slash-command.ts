// The type of a slash command, and the functions that many of them use.
import { ParleyError } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import type { CompletionChoice } from './completion.ts';
import type { Conversation } from './conversation.ts';
import type { LineSource } from './line-source.ts';
import { showPastTurns } from './past-turns.ts';
import type { FoundSession } from './session-search.ts';

/** The objects that a slash command works with. Ctrl-C stops its context. */
export interface Scope {
  readonly context: CliContext;
  readonly conversation: Conversation;
  readonly source: LineSource;
}

/** The result of a line: a text for the next prompt, the end of the REPL, or nothing. */
export type LineResult = { readonly initial: string } | 'leave' | undefined;

export interface SlashCommand {
  readonly name: string;
  /** The argument as /help shows it, such as `[TITLE]`. Empty for none. */
  readonly argument: string;
  readonly description: string;
  /** Says what sends a failed turn again. Missing for a command that sends no turn. */
  readonly resendHint?: string;
  /** The choices that Tab offers for an argument with this beginning. */
  readonly choices?: (beginning: string, context: CliContext) => Promise<readonly CompletionChoice[]>;
  run(argument: string, scope: Scope): Promise<LineResult> | Promise<void>;
}

/** Continues a session in its mode, shows its last messages, and makes it the current session of this terminal. */
export async function resume(
  { session_id: id, title, mode }: FoundSession,
  { context, conversation }: Scope,
): Promise<void> {
  conversation.enter(id, title);
  const modeOfLastTurn = await showPastTurns(id, conversation.markdown, context);
  conversation.continueInMode(mode ?? modeOfLastTurn);
  // The session can be continued even if it cannot be stored as the current one.
  await context.rememberSession(id, mode ?? modeOfLastTurn).catch(() => {});
}

/** Returns the id of the session. Throws `USAGE` before the first message. */
export function requireSessionId({ sessionId }: Conversation): string {
  if (sessionId !== null) return sessionId;
  throw new ParleyError('USAGE', 'This conversation has no session yet.', {
    hint: 'The first message creates one.',
  });
}

/** Returns the argument. Throws `USAGE` with the message `problem` if it is empty. */
export function requireArgument(argument: string, problem: string): string {
  if (argument !== '') return argument;
  throw new ParleyError('USAGE', problem, { hint: '' });
}
