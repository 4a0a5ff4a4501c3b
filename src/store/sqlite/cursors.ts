// Cursors: where a page ended, as a text that means nothing to its holder. They hold only what the page itself showed, never
// the store's own row numbers: those would tell one project how much the others hold.
import { ParleyError } from '../../service/errors.ts';
import type { SessionOrder } from '../../service/session-archive.ts';

export interface SessionCursor {
  /** The time that the listing is sorted by. */
  readonly time: number;
  readonly sessionId: string;
}

/** What a cursor begins with: a place in one order is none in another. */
const orderLetters: Readonly<Record<SessionOrder['sort'], Readonly<Record<SessionOrder['order'], string>>>> =
  {
    updated: { desc: 's', asc: 't' },
    created: { desc: 'c', asc: 'd' },
  };

export function sessionCursor({ sort, order }: SessionOrder, { time, sessionId }: SessionCursor): string {
  return encode(`${orderLetters[sort][order]}${time}/${sessionId}`);
}

export function readSessionCursor(order: SessionOrder, cursor: string): SessionCursor {
  const found = /^[a-z](\d{1,15})\/(.+)$/su.exec(decode(cursor));
  const end = { time: Number(found?.[1]), sessionId: found?.[2] ?? '' };
  if (found === null || sessionCursor(order, end) !== cursor)
    throw unknownCursor('with the same sort and order, ');
  return end;
}

export interface SearchCursor {
  readonly score: number;
  readonly time: number;
  readonly sessionId: string;
}

export function searchCursor({ score, time, sessionId }: SearchCursor): string {
  return encode(`q${score}/${time}/${sessionId}`);
}

export function readSearchCursor(cursor: string): SearchCursor {
  const found = /^q(\d{1,6}(?:\.\d{1,4})?)\/(\d{1,15})\/(.+)$/su.exec(decode(cursor));
  if (found === null) throw unknownCursor();
  const end = { score: Number(found[1]), time: Number(found[2]), sessionId: found[3] ?? '' };
  if (searchCursor(end) !== cursor) throw unknownCursor();
  return end;
}

export function messageCursor(position: number): string {
  return encode(`m${position}`);
}

export function readMessageCursor(cursor: string): number {
  const found = /^m(\d{1,15})$/.exec(decode(cursor));
  if (found === null) throw unknownCursor();
  const position = Number(found[1]);
  if (messageCursor(position) !== cursor) throw unknownCursor();
  return position;
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
