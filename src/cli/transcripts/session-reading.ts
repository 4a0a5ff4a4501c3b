// Reads a whole session for an export, in one consistent state.
import { ParleyError } from '../../service/errors.ts';
import { largestPage } from '../../service/limits.ts';
import { isHidden, type Message, type Session } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { quoteForShell } from '../../system/shell-quote.ts';
import type { ServiceAccess } from '../context.ts';
import { everyPage } from '../every-page.ts';
import { longestRecord } from './record-reading.ts';

/** After this many tries, a session that changes all the time is given up. */
const tries = 5;

/**
 * Yields the messages page by page, so that neither side holds a long session in memory. `all`: also those outside the visible line, with
 * the visible ones of their place.
 */
export async function* readMessages(
  sessionId: string,
  context: ServiceAccess,
  all = false,
): AsyncGenerator<{ readonly items: readonly Message[]; readonly body: unknown }, void> {
  const { backend } = await context.open();
  const ask = async (cursor: string | null) =>
    backend.archive.listMessages(await context.call(), sessionId, {
      limit: largestPage,
      cursor,
      ...(all && { all }),
    });
  for await (const { data, body } of everyPage(ask)) yield { items: data.items, body };
}

/**
 * The session and its messages are separate results. They are read again if a turn came between them. No more is held than the session
 * says that it has, and no more than `limit` characters of JSON.
 */
export async function readSession(
  sessionId: string,
  context: ServiceAccess,
  limit = longestRecord,
): Promise<SessionRecord> {
  const { backend } = await context.open();
  let before = (await backend.service.getSession(await context.call(), sessionId)).data;
  for (let count = 0; count < tries; count++) {
    const messages: Message[] = [];
    const hidden: Message[] = [];
    let length = 0;
    const all = backend.extensions?.includes('lines') ?? false;
    for await (const { items } of readMessages(sessionId, context, all)) {
      for (const message of items) (isHidden(message) ? hidden : messages).push(message);
      length += JSON.stringify(items).length;
      if (length > limit) throw tooLong(sessionId, limit);
      if (messages.length > before.message_count) break;
    }
    const session = (await backend.service.getSession(await context.call(), sessionId)).data;
    const isUnchanged = isSame(before, session);
    if (isUnchanged && messages.length === session.message_count)
      return { session, messages, ...(hidden.length > 0 && { hidden_messages: hidden }) };
    if (isUnchanged && messages.length > session.message_count) throw tooMany(session);
    before = session;
  }
  throw new ParleyError('SESSION_BUSY', `The session ${sessionId} changes while it is read.`, {
    hint: 'Export it again when nobody talks in it.',
  });
}

function tooMany({ session_id, message_count }: Session): ParleyError {
  return new ParleyError(
    'BAD_RESPONSE',
    `The server gives more messages of the session ${session_id} than the ${message_count} that it says the session has.`,
    { hint: 'Nothing of the session was exported.' },
  );
}

function tooLong(sessionId: string, limit: number): ParleyError {
  return new ParleyError(
    'PAYLOAD_TOO_LARGE',
    `The session ${sessionId} is longer than ${limit} characters as JSON, the limit of an export.`,
    { hint: `Read it page by page instead: parley sessions messages ${quoteForShell(sessionId)}` },
  );
}

function isSame(one: Session, other: Session): boolean {
  return (
    one.updated_at === other.updated_at &&
    one.message_count === other.message_count &&
    one.title === other.title
  );
}
