// A search gives the same page over SQLite and over PostgreSQL, to the byte: random texts and queries in ten writing systems.
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { readSearchCursor } from '../../../src/local/cursors.ts';
import { ParleyError } from '../../../src/service/errors.ts';
import type { SearchPlace } from '../../../src/store/session-filters.ts';
import type { SessionStore } from '../../../src/store/session-store.ts';
import type { PostgresDatabase } from '../../support/postgres-server.ts';
import { openTestPostgres } from '../../support/postgres-store.ts';
import { runs } from '../../support/runs.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import { at, newProject, recordOf, searchFilter } from '../store-samples.ts';

let server: PostgresDatabase;
beforeAll(async () => {
  server = await sharedPostgres();
}, 60_000);

const never = new AbortController().signal;

/** Words of a writing system. Some are the beginnings of others. */
const writings: Readonly<Record<string, readonly string[]>> = {
  latin: [
    'fox',
    'foxes',
    'Größe',
    'GROSSE',
    'résumé',
    'Resume',
    'İstanbul',
    'ﬁne',
    'naïve',
    'coöp',
    'don’t',
    'x1',
    'foo_bar',
  ],
  cyrillic: ['дом', 'Дома', 'ДОМОЙ', 'ёлка', 'елка', 'йод', 'Київ'],
  greek: ['λόγος', 'ΛΟΓΟΣ', 'λογος', 'ὕδωρ', 'υδωρ', 'Σίσυφος'],
  arabic: ['كتاب', 'كِتَاب', 'مكتبة', 'ملف', '٣٢١', 'الملف'],
  hebrew: ['שלום', 'שָׁלוֹם', 'ספר', 'ספרים'],
  devanagari: ['नमस्ते', 'हिन्दी', 'हिंदी', 'किताब', '१२३'],
  thai: ['สวัสดี', 'ภาษาไทย', 'ไทย', 'ครับ'],
  han: ['東京', '東京タワー', '大阪', '人工智能', '智能', '㐀', '𠀋𠀋'],
  kana: ['お茶', 'ﾃｽﾄ', 'テスト', 'データベース', 'べーす'],
  hangul: ['서울', '서울시', '대한민국', '한국', '각'.normalize('NFD')],
};
const signs = [
  '-',
  '—',
  '.',
  ', ',
  '…',
  '"',
  "'",
  '😀',
  '👨‍👩‍👧',
  '\u0301',
  '\u200d',
  '_',
  '$',
  'ª',
  '½',
  '①',
  'Ⅷ',
  '\n',
  '\u{1f1e9}',
];

const word = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...Object.values(writings).flat()) },
  { weight: 2, arbitrary: fc.constantFrom(...signs) },
  {
    weight: 1,
    arbitrary: fc
      .string({ unit: 'binary', maxLength: 3 })
      .filter((text) => text.isWellFormed() && !text.includes('\0')),
  },
);
const text = fc
  .array(fc.tuple(word, fc.constantFrom(' ', ' ', ' ', '', '-', '. ', '\n')), { minLength: 1, maxLength: 12 })
  .map((parts) => parts.flat().join(''));

const term = fc.oneof(
  { weight: 6, arbitrary: word },
  {
    weight: 2,
    arbitrary: fc.tuple(word, fc.nat(4)).map(([one, end]) => [...one].slice(0, end + 1).join('')),
  },
  { weight: 2, arbitrary: word.map((one) => `${[...one].slice(0, 3).join('')}*`) },
  { weight: 2, arbitrary: fc.tuple(word, word).map((words) => `"${words.join(' ')}"`) },
  { weight: 1, arbitrary: fc.tuple(word, word).map((words) => words.join('')) },
);
const query = fc.array(term, { minLength: 1, maxLength: 3 }).map((terms) => terms.join(' '));

/** The first pages of a search as text, or the error of the search. */
async function pagesOf(store: SessionStore, project: string, words: string, limit: number): Promise<string> {
  const pages: unknown[] = [];
  try {
    let after: SearchPlace | null = null;
    do {
      const page = await store.searchSessions(project, searchFilter(words, { limit, after }), never);
      pages.push(page);
      after = readSearchCursor(page.next_cursor);
    } while (after !== null && pages.length < 3);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    pages.push([error.code, error.message]);
  }
  return JSON.stringify(pages, null, 1);
}

test('a search gives the same pages over SQLite and over PostgreSQL', { timeout: 3_600_000 }, async () => {
  const { store: sqlite } = await openTestStore(storeOptions(temporaryDirectory()));
  const { store: postgres } = await openTestPostgres(server);
  const [one, other] = [await newProject(sqlite), await newProject(postgres)];
  const texts = fc.sample(text, { numRuns: runs(100, 2000), seed: 20 });
  for (let from = 0; from < texts.length; from += 4) {
    const { session, messages } = recordOf(`ses_${from}`, texts.slice(from, from + 4));
    const time = at(from % 28);
    const record = {
      session: { ...session, updated_at: time },
      messages: messages.map((message) => ({ ...message, created_at: time })),
    };
    await Promise.all([sqlite.importSession(one, record, null), postgres.importSession(other, record, null)]);
  }
  let found = 0;
  await fc.assert(
    fc.asyncProperty(query, fc.constantFrom(2, 50), async (words, limit) => {
      const [given, expected] = await Promise.all([
        pagesOf(postgres, other, words, limit),
        pagesOf(sqlite, one, words, limit),
      ]);
      expect(given).toBe(expected);
      if (expected.includes('snippet')) found += 1;
    }),
    { numRuns: runs(60, 10_000) },
  );
  expect(found).toBeGreaterThan(10);
});
