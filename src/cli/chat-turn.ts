// One turn of `parley chat`: what is sent, and the reply shown as it comes. How it failed, if it did, is for the caller to tell.
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
}

/** How a turn ended: `session` is where the message is kept, null where it is not known to be kept. */
export type TurnOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly error: unknown; readonly session: string | null };

/** What is to be sent. The message is read first: a person may still be writing it. */
export async function prepareTurn(input: ChatInput, context: CliContext): Promise<ChatTurn> {
  const message = await composeMessage(input, context);
  const mode = await chooseMode(input.mode, context);
  const session_id = await sessionToContinue(input, context);
  const call = await context.call();
  return {
    request: { mode, message, session_id, ...(input.title !== null && { title: input.title }) },
    call: {
      ...call,
      idempotencyKey: input.idempotencyKey ?? call.requestId,
      showReasoning: input.reasoning,
    },
  };
}

/** `remember` is told the session as soon as the message is kept in it. */
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
