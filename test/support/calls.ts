// Calls for tests, and helpers for their results.
import type { Call } from '../../src/service/call.ts';
import type { ChatEvent, ChatReply } from '../../src/service/chat-event.ts';
import type { ConversationService } from '../../src/service/conversation-service.ts';
import { ParleyError } from '../../src/service/errors.ts';

export function callWith(apiKey: string, rest: Partial<Call> = {}): Call {
  return {
    apiKey,
    signal: new AbortController().signal,
    idempotencyKey: null,
    requestId: 'req_test',
    pacesItself: false,
    showReasoning: false,
    ...rest,
  };
}

export async function collect(events: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> {
  const all: ChatEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** Runs a chat to its end and returns the reply. */
export async function say(
  service: ConversationService,
  call: Call,
  message: string,
  session_id: string | null = null,
  mode: string | null = 'echo',
): Promise<ChatReply> {
  const last = (await collect(service.chat(call, { mode, message, session_id }, 'chunks'))).at(-1);
  if (last?.event !== 'done') throw new Error('the chat did not end with done');
  return last.data;
}

/** The error with which a promise rejects. Throws if it does not reject with a `ParleyError`. */
export async function failureOf(promise: Promise<unknown>): Promise<ParleyError> {
  const outcome = await promise.then(
    () => new Error('expected a failure'),
    (error: unknown) => error,
  );
  if (outcome instanceof ParleyError) return outcome;
  throw outcome;
}
