// The hash of a session depends on its stored fields, not on how they were read.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  pairDigests,
  type SessionDigest,
  sessionDigests,
  sessionHash,
} from '../../src/local/session-digests.ts';
import type { PartPage, SessionHead, StoredMessage, StoreRows } from '../../src/store/store-rows.ts';

const { signal } = new AbortController();

const session = (session_id: string): SessionHead => ({
  ...{ session_id, title: null, created_at: 1, updated_at: 2, message_count: 6, deleted_at: null },
  ...{ mode: 'echo', parent_id: null, forked_at: null, parameters: null, system: null },
  ...{ turn_position: null, turn_epoch: 0, undone_turns: 0, pinned: false, archived: false, tags: null },
  user_id: null,
});

const message = (position: number): StoredMessage => ({
  ...{ message_id: `msg_${position}`, position, role: 'user', content: `text ${position}`, mode: 'echo' },
  ...{ finish_reason: null, input_tokens: null, output_tokens: null, first_token_ms: null, error_code: null },
  ...{ created_at: 3, is_copy: false, alternative_of: null, undone_at: null },
});

/** Pages of so many messages, of sessions of six messages each. */
function inPages(
  of: number,
  ids: readonly string[],
  change: Partial<StoredMessage> = {},
): Pick<StoreRows, 'readParts'> {
  const all = ids.flatMap((id) => [0, 1, 2, 3, 4, 5].map((position) => ({ id, message: message(position) })));
  const pages: PartPage[] = [];
  for (let begin = 0; begin < all.length; begin += of) {
    const rows = all.slice(begin, begin + of);
    const parts = [...new Set(rows.map(({ id }) => id))].map((id) => ({
      session: session(id),
      messages: rows.filter((row) => row.id === id).map((row) => ({ ...row.message, ...change })),
    }));
    const next = begin + of < all.length ? { session_id: String(pages.length + 1), message: null } : null;
    pages.push({ parts, next });
  }
  return { readParts: async (_, place) => pages[Number(place?.session_id ?? 0)] as PartPage };
}

async function digests(rows: Pick<StoreRows, 'readParts'>): Promise<readonly SessionDigest[]> {
  const found: SessionDigest[] = [];
  for await (const digest of sessionDigests(rows, 'prj', signal)) found.push(digest);
  return found;
}

test('is the same for any pages, and differs if a field of a message differs', async () => {
  const ids = ['ses_1', 'ses_2', 'ses_3'];
  const whole = await digests(inPages(100, ids));
  expect(whole.map(({ messages }) => messages)).toEqual([6, 6, 6]);
  for (let of = 1; of < 20; of += 1) expect(await digests(inPages(of, ids))).toEqual(whole);
  const changes: readonly Partial<StoredMessage>[] = [
    ...[
      { content: 'other' },
      { mode: 'other' },
      { error_code: 'X' },
      { input_tokens: 1 },
      { first_token_ms: 1 },
      { is_copy: true },
      { alternative_of: 'msg_0' },
      { undone_at: 1 },
    ],
    ...([{ message_id: 'x' }, { created_at: 4 }, { finish_reason: 'stop' }, { role: 'assistant' }] as const),
  ];
  const hashes = await Promise.all(
    changes.map(async (change) => (await digests(inPages(100, ids, change)))[0]?.hash),
  );
  expect(new Set([...hashes, whole[0]?.hash]).size).toBe(changes.length + 1);
});

test('includes the user, and without one equals that of an earlier version', () => {
  const texts = Buffer.alloc(32);
  const own = (user_id: string | null) => sessionHash({ ...session('ses_1'), user_id }, texts);
  expect(new Set([own(null), own('a'), own('b')]).size).toBe(3);
  expect(own(null)).toBe('1ba9fdeedd9275d939e73e06922a3cfa5bd92b841f6c64a41e07292edcce5498');
});

test('pairs of two stores contain every session of either, in order', async () => {
  const names = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(names, names, fc.integer({ min: 1, max: 9 }), async (ones, others, of) => {
      const [one, other] = [ones, others].map((list) => list.map((id) => `ses_${id}`).sort()) as [
        string[],
        string[],
      ];
      const rows = (list: readonly string[]) => (list.length === 0 ? inPages(1, ['x']) : inPages(of, list));
      const from = (list: readonly string[]) =>
        list.length === 0 ? (async function* () {})() : sessionDigests(rows(list), 'prj', signal);
      const found = [];
      for await (const pair of pairDigests(from(one), from(other))) {
        expect([pair.original?.session_id ?? null, pair.copy?.session_id ?? null]).toEqual([
          ...[one.includes(pair.session_id) ? pair.session_id : null],
          ...[other.includes(pair.session_id) ? pair.session_id : null],
        ]);
        expect(pair.isCopyOver).toBe(other.every((id) => id < pair.session_id));
        found.push(pair.session_id);
      }
      expect(found).toEqual([...new Set([...one, ...other])].sort());
    }),
    { numRuns: 50 },
  );
});

test('leaves no rejection unhandled if it is stopped before its first page is read', async () => {
  const stopped = AbortSignal.abort(new Error('stopped'));
  const closed = { readParts: async () => Promise.reject(new Error('the store is closed')) };
  await expect(sessionDigests(closed, 'prj', stopped).next()).rejects.toThrow('stopped');
});
