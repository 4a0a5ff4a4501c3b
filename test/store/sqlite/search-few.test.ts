// A search in few sessions of a store with many hits. Pages of the index are damaged between the places that it has to read, so a search that
// reads one of them fails.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { SessionPredicate } from '../../../src/store/session-filters.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { searchStatements } from '../../../src/store/sqlite/search-hits.ts';
import { fillIndexes } from '../../support/filled-indexes.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import { anySessions, newProject, searchFilter } from '../store-samples.ts';

const messages = 12_000;

/** The first two sessions meet each filter. Returns their project. */
async function storeOfHits(directory: string, text: string): Promise<string> {
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  await store.close();
  const path = join(directory, 'parley.db');
  lookInto(path, (database) =>
    database.exec(`
      BEGIN;
      INSERT INTO message_words (message_words, rank) VALUES ('pgsz', 512);
      INSERT INTO message_pieces (message_pieces, rank) VALUES ('pgsz', 512);
      INSERT INTO sessions (id, session_id, project, created_at, updated_at, mode, pinned, archived) VALUES
        (1, 'ses_first', 1, 0, 9, 'echo', 1, 1), (2, 'ses_second', 1, 0, 9, 'echo', 1, 1), (3, 'ses_other', 1, 0, 1, 'echo', 0, 0);
      INSERT INTO session_tags (session, tag, project) VALUES (1, 'rare', 1), (2, 'rare', 1);
      WITH RECURSIVE numbers (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM numbers WHERE id < ${messages})
      INSERT INTO messages (id, session, position, message_id, role, mode, created_at, content)
        SELECT id, CASE WHEN id < 3 OR id IN (7600, ${messages}) THEN 1 WHEN id BETWEEN 1000 AND 1600 THEN 2 ELSE 3 END,
          id, 'msg_' || id, 'user', 'echo', id, '${text}' FROM numbers;
      COMMIT;`),
  );
  fillIndexes(directory);
  lookInto(path, (database) => {
    for (const index of ['message_words', 'message_pieces']) {
      database.exec(`INSERT INTO ${index} (${index}) VALUES ('optimize')`);
    }
  });
  return project;
}

/** Overwrites the pages of an index that begin with the messages 5000 to 7000. SQLite allows no statement to change them. */
function damagePages(directory: string, index: 'words' | 'pieces'): void {
  const path = join(directory, 'parley.db');
  const pages = lookInto(path, (database) =>
    database.prepare(`SELECT block FROM message_${index}_data`).pluck().all(),
  ) as readonly Uint8Array[];
  const file = readFileSync(path);
  const middle = pages.filter((page) => {
    // A page begins with the place of its first number, which has 7 bits in each byte.
    const [high = 0, low = 0, ...rest] = page;
    const [first = 0, second = 0] = rest.slice(high * 256 + low - 2);
    const number = (first & 0x7f) * 128 + second;
    return page.length > 400 && number >= 5000 && number <= 7000;
  });
  expect(middle.length).toBeGreaterThan(10);
  for (const page of middle) {
    // A free page of the file may hold the same.
    for (let at = file.indexOf(page); at !== -1; at = file.indexOf(page, at)) {
      file.fill(0xff, at, at + page.length);
    }
  }
  writeFileSync(path, file);
}

const filters: Readonly<Record<string, Partial<SessionPredicate>>> = {
  tag: { tag: 'rare' },
  pins: { pinned: true },
  archive: { archived: true },
  time: { updatedAfter: 5 },
};

it.each([
  ['words', 'fox', ['fox', '"fox"']],
  ['pieces', '東京都', ['東京都', '東']],
] as const)(
  'a search of %s reads no hits before those of its step; in few sessions it reads only the places of their messages',
  async (index, text, queries) => {
    const directory = temporaryDirectory();
    const project = await storeOfHits(directory, text);
    damagePages(directory, index);
    const step = { projectId: project, expression: `"${text}"`, before: 4000, limit: 3 };
    const row = lookInto(join(directory, 'parley.db'), (database) =>
      database.prepare(searchStatements[index].older).get(step),
    );
    expect(row).toEqual({ numbers: '[3999,3998,3997]' });
    const { store } = await openTestStore(storeOptions(directory));
    const ids = async (query: string, predicate: Partial<SessionPredicate>) => {
      const filter = searchFilter(query, { sessions: { ...anySessions, ...predicate } });
      const page = await store.searchSessions(project, filter, new AbortController().signal);
      return page.items.map(({ session }) => session.session_id);
    };
    for (const query of queries) {
      for (const predicate of Object.values(filters)) {
        expect(await ids(query, predicate)).toEqual(['ses_first', 'ses_second']);
      }
      await expect(ids(query, { mode: 'none' })).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
    }
  },
);
