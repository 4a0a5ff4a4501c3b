// Cursors: each is the place at which its page ended, and is refused in any other listing.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  messagePage,
  readMessageCursor,
  readSearchCursor,
  readSessionCursor,
  searchCursor,
  sessionPage,
} from '../../src/local/cursors.ts';
import { type Message, noOrdering, type Session } from '../../src/service/session.ts';

const orders = (['updated', 'created'] as const).flatMap((sort) =>
  (['desc', 'asc'] as const).map((order) => ({ sort, order })),
);
const session: Session = {
  ...{ session_id: 'ses_1', title: null, message_count: 0, mode: null, system: null, parameters: {} },
  ...{ parent_id: null, forked_at: null, user: null, ...noOrdering },
  ...{ created_at: '2024-05-01T12:00:00.000Z', updated_at: '2024-05-02T12:00:00.000Z' },
};
const message = { position: 7 } as Message;
const details = [{ field: 'cursor', problem: 'not given out by this listing' }];
const refused = { code: 'INVALID_REQUEST', details };

function cursorOf(order: (typeof orders)[number]): string {
  return sessionPage(order, { items: [session], hasMore: true }).next_cursor ?? '';
}

test.each(orders)('a cursor of sessions by $sort, $order, is the place that its page ended at', (order) => {
  const time = Date.parse(order.sort === 'created' ? session.created_at : session.updated_at);
  expect(readSessionCursor(order, cursorOf(order))).toEqual({ time, sessionId: 'ses_1' });
});

test('a cursor of one order is refused in another, with the remedy', () => {
  for (const given of orders) {
    for (const order of orders.filter((order) => order !== given)) {
      expect(() => readSessionCursor(order, cursorOf(given))).toThrow(
        expect.objectContaining({ ...refused, hint: expect.stringContaining('same sort and order') }),
      );
    }
  }
});

test('a cursor of messages is the position that its page ended at', () => {
  const { next_cursor } = messagePage({ items: [message], hasMore: true });
  expect(readMessageCursor(next_cursor)).toBe(7);
});

test('a cursor of a search is the place of the session that its page ended with', () => {
  fc.assert(
    fc.property(fc.nat(100_000), fc.nat(), fc.stringMatching(/^[\w-]{1,40}$/), (score, time, sessionId) => {
      const place = { score: score / 10_000, time, sessionId };
      expect(readSearchCursor(searchCursor(place))).toEqual(place);
    }),
  );
});

test('the last page has no cursor, and the first is asked for without one', () => {
  expect(messagePage({ items: [message], hasMore: false }).next_cursor).toBeNull();
  expect(messagePage({ items: [], hasMore: true }).next_cursor).toBeNull();
  for (const order of orders) expect(readSessionCursor(order, null)).toBeNull();
  expect([readMessageCursor(null), readSearchCursor(null)]).toEqual([null, null]);
});

test('a cursor that was not given out by the listing is refused', () => {
  const [order] = orders as [(typeof orders)[number]];
  const sessions = cursorOf(order);
  const messages = messagePage({ items: [message], hasMore: true }).next_cursor ?? '';
  const search = searchCursor({ score: 1.5, time: 1, sessionId: 'ses_1' });
  const readers: readonly [(cursor: string) => unknown, string][] = [
    [(cursor) => readSessionCursor(order, cursor), sessions],
    [readMessageCursor, messages],
    [readSearchCursor, search],
  ];
  for (const [read, own] of readers) {
    const others = [sessions, messages, search].filter((cursor) => cursor !== own);
    for (const cursor of ['', '!', 'abc', '-1', '1', `${own}=`, `${own} `, ...others])
      expect(() => read(cursor), cursor).toThrow(expect.objectContaining(refused));
  }
});

test.each(orders)('a session of a clock before 1970 has a cursor by $sort, $order', (order) => {
  const time = '1969-11-08T17:22:31.249Z';
  const early = { ...session, created_at: time, updated_at: time };
  const cursor = sessionPage(order, { items: [early], hasMore: true }).next_cursor;
  expect(readSessionCursor(order, cursor)).toEqual({ time: Date.parse(time), sessionId: 'ses_1' });
  const place = { score: 1.5, time: Date.parse(time), sessionId: 'ses_1' };
  expect(readSearchCursor(searchCursor(place))).toEqual(place);
});
