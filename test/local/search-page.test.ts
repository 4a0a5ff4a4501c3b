// The number of hits that a search asks of a store: as many as it ranks, however many there are.
import { expect, test } from 'vitest';
import { searchPage } from '../../src/local/search-page.ts';
import type { FoundMessage } from '../../src/store/store-rules.ts';
import { anySessions } from '../store/store-samples.ts';

const request = {
  sessions: anySessions,
  limit: 20,
  after: null,
  matching: 'words',
  terms: [{ text: 'word', prefix: false }],
} as const;

test('a search ranks the newest 10,000 messages, and reads one more to know whether there are others', async () => {
  const read: string[] = [];
  const found = async (count: number) => {
    const all = Array.from({ length: count }, (_, id): FoundMessage => {
      return { id, session_id: `ses_${id}`, position: 0, created_at: id, bytes: 4 };
    });
    let max = 0;
    const page = await searchPage(request, {
      hits: async (limit) => {
        max = limit;
        return all.slice(-limit).reverse();
      },
      async *texts(messages) {
        read.push(...messages.map(({ session_id }) => session_id));
        yield messages.map(() => 'word');
      },
      async *shown() {},
    });
    return { max, newest_only: page.newest_only };
  };
  expect(await found(10_000)).toEqual({ max: 10_001, newest_only: false });
  read.length = 0;
  expect(await found(10_500)).toEqual({ max: 10_001, newest_only: true });
  expect(read).toHaveLength(10_000);
  expect(read).not.toContain('ses_499');
  expect(read).toContain('ses_10499');
});
