// Reads the messages of a session, or a whole session in one consistent state.
import { offers } from '../../service/backend.ts';
import { ParleyError } from '../../service/errors.ts';
import { maxPageItems } from '../../service/limits.ts';
import { isHidden, type Message, type Session } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { quoteForShell } from '../../system/shell-quote.ts';
import type { ServiceAccess } from '../context.ts';
import { everyPage } from '../every-page.ts';
import { fetchSession } from '../session-reference.ts';
import { maxRecordCharacters } from './exported-records.ts';

/** How often a session that changes meanwhile is read again. */
const maxTries = 5;

/**
 * Yields the messages page by page, so that neither side holds a long session in memory. `all` includes hidden messages, after the visible ones
 * at the same position.
 */
export async function* readMessages(
  sessionId: string,
  context: ServiceAccess,
  all = false,
): AsyncGenerator<{ readonly items: readonly Message[]; readonly body: unknown }, void> {
  const { backend } = await context.open();
  const fetchPage = async (cursor: string | null) =>
    backend.archive.listMessages(await context.call(), sessionId, {
      limit: maxPageItems,
      cursor,
      ...(all && { all }),
    });
  for await (const { data, body } of everyPage(fetchPage)) yield { items: data.items, body };
}

/**
 * The session and its messages are separate requests. They are repeated if the session changed in between. Memory holds at most the number of
 * messages that the session has, and at most `limit` characters of JSON.
 */
export async function readSession(
  sessionId: string,
  context: ServiceAccess,
  limit = maxRecordCharacters,
): Promise<SessionRecord> {
  const { backend } = await context.open();
  let before = await fetchSession(sessionId, context);
  for (let count = 0; count < maxTries; count++) {
    const messages: Message[] = [];
    const hidden: Message[] = [];
    let length = 0;
    const all = offers(backend, 'lines');
    for await (const { items } of readMessages(sessionId, context, all)) {
      for (const message of items) (isHidden(message) ? hidden : messages).push(message);
      length += JSON.stringify(items).length;
      if (length > limit) throw tooLong(sessionId, limit);
      if (messages.length > before.message_count) break;
    }
    const session = await fetchSession(sessionId, context);
    const isUnchanged = isSame(before, session);
    if (isUnchanged && messages.length === session.message_count)
      return { session, messages, ...(hidden.length > 0 && { hidden_messages: hidden }) };
    if (isUnchanged && messages.length > session.message_count) throw tooMany(session);
    before = session;
  }
  throw new ParleyError('SESSION_BUSY', `Session ${sessionId} keeps changing while it is read.`, {
    hint: 'Try again when nobody is using it.',
  });
}

function tooMany({ session_id, message_count }: Session): ParleyError {
  return new ParleyError(
    'BAD_RESPONSE',
    `The server returned more messages than the ${message_count} that session ${session_id} should have.`,
    { hint: 'The session was not exported.' },
  );
}

function tooLong(sessionId: string, limit: number): ParleyError {
  return new ParleyError(
    'PAYLOAD_TOO_LARGE',
    `Session ${sessionId} exceeds the limit of an export, ${limit} characters of JSON.`,
    { hint: `To read it page by page instead: parley sessions messages ${quoteForShell(sessionId)}` },
  );
}

function isSame(one: Session, other: Session): boolean {
  return (
    one.updated_at === other.updated_at &&
    one.message_count === other.message_count &&
    one.title === other.title
  );
}
