// What a slash command is: its name, its argument, and what it does.
import { ParleyError } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import type { CompletionChoice } from './completion.ts';
import type { Conversation } from './conversation.ts';
import type { LineSource } from './line-source.ts';
import { showPastTurns } from './past-turns.ts';
import type { Found } from './session-search.ts';

/** What a slash command receives. Ctrl-C stops its context. */
export interface Scope {
  readonly context: CliContext;
  readonly conversation: Conversation;
  readonly source: LineSource;
}

/** What happens after a command: nothing, a text that stands at the next prompt, or the end of the REPL. */
export type Next = { readonly initial: string } | 'leave' | undefined;

export interface SlashCommand {
  readonly name: string;
  readonly argument: string;
  readonly description: string;
  /** Says what sends a failed turn again. Missing for a command that sends no turn. */
  readonly resendHint?: string;
  readonly choices?: (beginning: string, context: CliContext) => Promise<readonly CompletionChoice[]>;
  run(argument: string, scope: Scope): Promise<Next>;
}

/** Goes on with a session, in its mode, and shows its last messages. It is the current session of this terminal from then on. */
export async function resume(
  { session_id: id, title, mode }: Found,
  { context, conversation }: Scope,
): Promise<void> {
  conversation.enter(id, title);
  const modeOfLastTurn = await showPastTurns(id, context);
  conversation.continueInMode(mode ?? modeOfLastTurn);
  // A failure to store that must not keep anybody from the session.
  await context.rememberSession(id, mode ?? modeOfLastTurn).catch(() => {});
}

/** The id of the session. Throws `USAGE` before the first message. */
export function sessionOf({ sessionId }: Conversation): string {
  if (sessionId !== null) return sessionId;
  throw new ParleyError('USAGE', 'There is no session yet.', { hint: 'The first message creates one.' });
}

/** Throws `USAGE` for an empty argument. */
export function required(argument: string, problem: string): string {
  if (argument !== '') return argument;
  throw new ParleyError('USAGE', problem, { hint: '' });
}
