// Reads the last messages of a session, in one page if the server supports that. Rejects with `UNSUPPORTED` if the server lists no
// messages.
import { hasCode } from '../../service/errors.ts';
import { maxPageItems } from '../../service/limits.ts';
import type { Result } from '../../service/result.ts';
import { isCut, type Message, type Page } from '../../service/session.ts';
import type { ServiceAccess } from '../context.ts';
import { everyPage } from '../every-page.ts';

export async function lastMessages(
  sessionId: string,
  count: number,
  context: ServiceAccess,
): Promise<readonly Message[]> {
  const { backend } = await context.open();
  const readPage = async (cursor: string | null, last: boolean) =>
    backend.archive.listMessages(await context.call(), sessionId, {
      limit: last ? Math.min(count, maxPageItems) : maxPageItems,
      cursor,
      ...(last && { last }),
    });
  try {
    return await lastOf(count, (cursor) => readPage(cursor, cursor === null));
  } catch (error) {
    // A server of an earlier version cannot return the last page.
    if (!hasCode(error, 'INVALID_REQUEST')) throw error;
    return lastOf(count, (cursor) => readPage(cursor, false));
  }
}

/** Reads all pages that follow, because a server that does not support the last page returns the first one. */
async function lastOf(
  count: number,
  readPage: (cursor: string | null) => Promise<Result<Page<Message>>>,
): Promise<readonly Message[]> {
  let messages: readonly Message[] = [];
  for await (const { data } of everyPage(readPage)) messages = [...messages, ...data.items].slice(-count);
  return messages;
}

interface LastTurn {
  readonly message: string;
  /** True if the reply is complete. */
  readonly isAnswered: boolean;
}

/** Null if the session has no message, or if the server lists no messages. */
export async function lastTurn(sessionId: string, context: ServiceAccess): Promise<LastTurn | null> {
  const messages = await lastMessagesOrNone(sessionId, 2, context);
  const reply = messages.at(-1);
  const message = messages.findLast(({ role }) => role === 'user');
  if (reply === undefined || message === undefined) return null;
  return { message: message.content, isAnswered: reply.role === 'assistant' && !isCut(reply) };
}

/** The last reply that has any text. Empty if there is none, or if the server lists no messages. */
export async function lastReply(sessionId: string, context: ServiceAccess): Promise<string> {
  const messages = await lastMessagesOrNone(sessionId, maxPageItems, context);
  return messages.findLast(({ role, content }) => role === 'assistant' && content !== '')?.content ?? '';
}

async function lastMessagesOrNone(
  sessionId: string,
  count: number,
  context: ServiceAccess,
): Promise<readonly Message[]> {
  try {
    return await lastMessages(sessionId, count, context);
  } catch (error) {
    if (hasCode(error, 'UNSUPPORTED')) return [];
    throw error;
  }
}
