// One turn of `parley chat`: sends the message and shows the reply as it arrives. The caller reports a failure.
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatRequest } from '../service/chat-event.ts';
import { ParleyError } from '../service/errors.ts';
import { composeMessage } from './chat-message.ts';
import type { ChatOutput } from './chat-output.ts';
import type { ChatInput } from './chat-plan.ts';
import type { CliContext } from './context.ts';
import { chooseMode } from './mode-choice.ts';
import { sessionToContinue } from './session-choice.ts';

export interface ChatTurn {
  readonly request: ChatRequest;
  readonly call: Call & { readonly idempotencyKey: string };
  /** The mode of the session's last turn, if it is known here. */
  readonly modeBefore: string | null;
}

/** The end of a turn. `session` is the session that stores the message; null if the message is not known to be stored. */
export type TurnOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly error: unknown; readonly session: string | null };

/** Prepares the turn. The message is read first, because a person may still be typing it. */
export async function prepareTurn(input: ChatInput, context: CliContext): Promise<ChatTurn> {
  const message = await composeMessage(input, context);
  const session = await sessionToContinue(input, context);
  const modeBefore = session?.mode ?? null;
  const goesOn = input.mode === null && modeBefore !== null;
  const mode = goesOn ? modeBefore : await chooseMode(input.mode, context);
  const session_id = session?.sessionId ?? null;
  const call = await context.call();
  return {
    request: { mode, message, session_id, ...(input.title !== null && { title: input.title }) },
    call: {
      ...call,
      idempotencyKey: input.idempotencyKey ?? call.requestId,
      showReasoning: input.reasoning,
    },
    modeBefore,
  };
}

/** Runs the turn. `remember` is called with the session as soon as the message is stored. */
export async function runTurn(
  events: AsyncIterable<ChatEvent>,
  output: ChatOutput,
  remember: (sessionId: string) => Promise<void>,
): Promise<TurnOutcome> {
  let session: string | null = null;
  let isComplete = false;
  try {
    for await (const event of events) {
      if (event.event === 'session') {
        session = event.data.session_id;
        await remember(session);
      }
      await output.take(event);
      if (event.event === 'done') isComplete = true;
    }
    if (isComplete) return { kind: 'done' };
    throw new ParleyError('INCOMPLETE_REPLY', 'The reply broke off before its end.', { hint: 'Try again.' });
  } catch (error) {
    await output.fail(error);
    return { kind: 'failed', error, session };
  }
}
