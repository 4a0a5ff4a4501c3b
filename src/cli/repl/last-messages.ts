// The end of what was said in a session. `UNSUPPORTED` where the server does not show that.
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

/** What was said last, if its reply was cut or never came; null where it was answered, or nothing is shown. */
export async function unansweredMessage(sessionId: string, context: ServiceAccess): Promise<string | null> {
  const messages = await shownMessages(sessionId, 2, context);
  const last = messages.at(-1);
  if (last?.role === 'user') return last.content;
  return last !== undefined && isCut(last) ? (messages.at(-2)?.content ?? null) : null;
}

/** The last reply of which anything came; empty where there is none, or none is shown. */
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
