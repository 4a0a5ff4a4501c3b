// Reads the last messages of a session. Rejects with `UNSUPPORTED` if the server does not show messages.
import { ParleyError } from '../../service/errors.ts';
import { largestPage } from '../../service/limits.ts';
import { isCut, type Message } from '../../service/session.ts';
import type { ServiceAccess } from '../context.ts';
import { everyPage } from '../every-page.ts';

export async function lastMessages(
  sessionId: string,
  most: number,
  context: ServiceAccess,
): Promise<readonly Message[]> {
  const { backend } = await context.open();
  let kept: readonly Message[] = [];
  const ask = async (cursor: string | null) =>
    backend.archive.listMessages(await context.call(), sessionId, { limit: largestPage, cursor });
  for await (const { data } of everyPage(ask)) kept = [...kept, ...data.items].slice(-most);
  return kept;
}

export interface LastTurn {
  /** What the user said. */
  readonly message: string;
  /** True if its reply reached its end. */
  readonly isAnswered: boolean;
}

/** Null if the session has no message, or if the server shows no messages. */
export async function lastTurn(sessionId: string, context: ServiceAccess): Promise<LastTurn | null> {
  const messages = await shownMessages(sessionId, 2, context);
  const reply = messages.at(-1);
  const message = messages.findLast(({ role }) => role === 'user');
  if (reply === undefined || message === undefined) return null;
  return { message: message.content, isAnswered: reply.role === 'assistant' && !isCut(reply) };
}

/** The last reply that has any text. Empty if there is none, or if the server shows no messages. */
export async function lastReply(sessionId: string, context: ServiceAccess): Promise<string> {
  const messages = await shownMessages(sessionId, largestPage, context);
  return messages.findLast(({ role, content }) => role === 'assistant' && content !== '')?.content ?? '';
}

async function shownMessages(
  sessionId: string,
  most: number,
  context: ServiceAccess,
): Promise<readonly Message[]> {
  try {
    return await lastMessages(sessionId, most, context);
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'UNSUPPORTED') return [];
    throw error;
  }
}
