// An attempt of the REPL at a turn, which can be repeated with its idempotency key.
import { isDeepStrictEqual } from 'node:util';
import type { ChatRequest, ChatRequestInMode } from '../../service/chat-event.ts';
import type { CliContext } from '../context.ts';

/** A message as it was sent, or a request for another reply to the last message, with its idempotency key. */
export interface Attempt {
  /** The message is empty in a request for another reply. */
  readonly request: ChatRequestInMode;
  /** True for a request for another reply to the last message of the session. */
  readonly regenerates: boolean;
  readonly idempotencyKey: string;
  /** True if the complete reply arrived. */
  readonly isAnswered: boolean;
  /** True if a part of the reply arrived. */
  readonly isBegun: boolean;
  /** True if the service stored the message. */
  readonly isStored: boolean;
  /** True if the message failed and returned to the prompt. */
  readonly isReturned: boolean;
}

/** Compares everything except the session, because the first attempt may have created it. */
export function isSameMessage(one: ChatRequest, other: ChatRequest): boolean {
  const isSame = one.message === other.message && one.mode === other.mode;
  return isSame && (other.session_id !== null || isDeepStrictEqual(newSessionOf(one), newSessionOf(other)));
}

function newSessionOf({ title, system, parameters, user }: ChatRequest) {
  return { title, system, parameters, user };
}

export function newAttempt(request: ChatRequestInMode, context: CliContext): Attempt {
  return {
    request,
    regenerates: false,
    idempotencyKey: context.host.newRequestId(),
    isAnswered: false,
    isBegun: false,
    isStored: false,
    isReturned: false,
  };
}
