// Cursors: the place where a page ended, as an opaque text. A cursor holds only values that the page itself showed, never a row number of
// the store: row numbers would tell one project how much the other projects hold.
import { ParleyError } from '../service/errors.ts';
import type { Message, Page, Session } from '../service/session.ts';
import type { SessionOrder } from '../service/session-archive.ts';
import type { AnyMessagePlace, Rows, SearchPlace, SessionPlace } from '../store/session-filters.ts';

/** The first letter of a cursor names its order, because a place in one order has no meaning in another. */
const orderLetters: Readonly<Record<SessionOrder['sort'], Readonly<Record<SessionOrder['order'], string>>>> =
  {
    updated: { desc: 's', asc: 't' },
    created: { desc: 'c', asc: 'd' },
  };

/** A page of sessions in this order. */
export function sessionPage(order: SessionOrder, rows: Rows<Session>): Page<Session> {
  return pageOf(rows, ({ session_id: sessionId, created_at, updated_at }) =>
    sessionCursor(order, { time: Date.parse(order.sort === 'created' ? created_at : updated_at), sessionId }),
  );
}

function sessionCursor({ sort, order }: SessionOrder, { time, sessionId }: SessionPlace): string {
  return encode(`${orderLetters[sort][order]}${time}/${sessionId}`);
}

/** The place of a cursor; null for the first page. Throws `INVALID_REQUEST` for a cursor that a listing in this order has not returned. */
export function readSessionCursor(order: SessionOrder, cursor: string | null): SessionPlace | null {
  if (cursor === null) return null;
  const match = /^[a-z](-?\d{1,15})\/(.+)$/su.exec(decode(cursor));
  const end = { time: Number(match?.[1]), sessionId: match?.[2] ?? '' };
  if (match === null || sessionCursor(order, end) !== cursor)
    throw unknownCursor('with the same sort and order, ');
  return end;
}

export function searchCursor({ score, time, sessionId }: SearchPlace): string {
  return encode(`q${score}/${time}/${sessionId}`);
}

/** The place of a cursor; null for the first page. Throws `INVALID_REQUEST` for a cursor that no search has returned. */
export function readSearchCursor(cursor: string | null): SearchPlace | null {
  if (cursor === null) return null;
  const match = /^q(\d{1,6}(?:\.\d{1,4})?)\/(-?\d{1,15})\/(.+)$/su.exec(decode(cursor));
  if (match === null) throw unknownCursor();
  const end = { score: Number(match[1]), time: Number(match[2]), sessionId: match[3] ?? '' };
  if (searchCursor(end) !== cursor) throw unknownCursor();
  return end;
}

export function messagePage(rows: Rows<Message>): Page<Message> {
  return pageOf(rows, ({ position }) => messageCursor(position));
}

function messageCursor(position: number): string {
  return encode(`m${position}`);
}

/** The position after which the page begins; null for the first page. Throws `INVALID_REQUEST` for any other text. */
export function readMessageCursor(cursor: string | null): number | null {
  if (cursor === null) return null;
  const match = /^m(\d{1,15})$/.exec(decode(cursor));
  if (match === null) throw unknownCursor();
  const position = Number(match[1]);
  if (messageCursor(position) !== cursor) throw unknownCursor();
  return position;
}

/** A page of all messages of a session, hidden ones included. */
export function anyMessagePage(rows: Rows<Message>): Page<Message> {
  return pageOf(rows, ({ position, message_id }) => anyMessageCursor({ position, messageId: message_id }));
}

function anyMessageCursor({ position, messageId }: NonNullable<AnyMessagePlace['after']>): string {
  return encode(`a${position}/${messageId}`);
}

/** The message after which the page begins; null for the first page. Throws `INVALID_REQUEST` for any other text. */
export function readAnyMessageCursor(cursor: string | null): AnyMessagePlace['after'] {
  if (cursor === null) return null;
  const match = /^a(\d{1,15})\/([\x21-\x7e]{1,255})$/.exec(decode(cursor));
  if (match === null) throw unknownCursor('with the same `all`, ');
  const place = { position: Number(match[1]), messageId: match[2] ?? '' };
  if (anyMessageCursor(place) !== cursor) throw unknownCursor('with the same `all`, ');
  return place;
}

function pageOf<Item>({ items, hasMore }: Rows<Item>, cursorAfter: (last: Item) => string): Page<Item> {
  const last = items.at(-1);
  return { items, next_cursor: hasMore && last !== undefined ? cursorAfter(last) : null };
}

function encode(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}

function decode(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString('utf8');
}

function unknownCursor(how = ''): ParleyError {
  return new ParleyError('INVALID_REQUEST', 'The cursor is not one of this listing.', {
    hint: `Pass the \`next_cursor\` of the page before as it is, ${how}or none for the first page.`,
    details: [{ field: 'cursor', problem: 'not given out by this listing' }],
  });
}
