// Reads a whole session for an export, as it stands at one moment.
import { ParleyError } from '../../service/errors.ts';
import { largestPage } from '../../service/limits.ts';
import type { Message, Session } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import type { CliContext } from '../context.ts';
import { everyPage } from '../every-page.ts';

/** After this many tries, a session that changes all the time is given up. */
const tries = 5;

/** Yields the messages page by page, so that neither side holds a long session in memory. */
export async function* readMessages(
  sessionId: string,
  context: CliContext,
): AsyncGenerator<{ readonly items: readonly Message[]; readonly body: unknown }, void> {
  const { backend } = await context.open();
  const ask = async (cursor: string | null) =>
    backend.archive.listMessages(await context.call(), sessionId, { limit: largestPage, cursor });
  for await (const { data, body } of everyPage(ask)) yield { items: data.items, body };
}

/** The session and its messages are separate answers. They are read again if a turn came between them. */
export async function readSession(sessionId: string, context: CliContext): Promise<SessionRecord> {
  const { backend } = await context.open();
  let before = (await backend.service.getSession(await context.call(), sessionId)).data;
  for (let count = 0; count < tries; count++) {
    const messages: Message[] = [];
    for await (const { items } of readMessages(sessionId, context)) messages.push(...items);
    const session = (await backend.service.getSession(await context.call(), sessionId)).data;
    if (isSame(before, session) && messages.length === session.message_count) return { session, messages };
    before = session;
  }
  throw new ParleyError('SESSION_BUSY', `The session ${sessionId} changes while it is read.`, {
    hint: 'Export it again when nobody talks in it.',
  });
}

function isSame(one: Session, other: Session): boolean {
  return (
    one.updated_at === other.updated_at &&
    one.message_count === other.message_count &&
    one.title === other.title
  );
}
