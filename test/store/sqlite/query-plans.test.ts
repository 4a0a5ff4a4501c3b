// What SQLite means to do for each statement: search an index, never walk a table or sort one, so that a store of a million
// sessions answers like a small one. And each names its project itself.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { idempotencyStatements } from '../../../src/store/sqlite/idempotency.ts';
import { importStatements } from '../../../src/store/sqlite/imports.ts';
import { keyStatements } from '../../../src/store/sqlite/keys.ts';
import { listingStatements, sessionListings } from '../../../src/store/sqlite/listings.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { hitStatements, searchStatements } from '../../../src/store/sqlite/search.ts';
import { indexStatements } from '../../../src/store/sqlite/search-index.ts';
import { sessionStatements } from '../../../src/store/sqlite/sessions.ts';
import { turnStatements } from '../../../src/store/sqlite/turn-rows.ts';
import { usageStatements } from '../../../src/store/sqlite/usage.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/test-store.ts';

async function plan(sql: string): Promise<string> {
  const directory = temporaryDirectory();
  await (await openSqliteStore(storeOptions(directory))).store.close();
  return lookInto(join(directory, 'parley.db'), (database) => {
    const names = [...sql.matchAll(/@(\w+)/g)].map((found) => found[1] as string);
    const rows = database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(Object.fromEntries(names.map((name) => [name, 1])));
    return rows.map((row) => (row as { detail: string }).detail).join('\n');
  });
}

const orders = (['updated', 'created'] as const).flatMap((sort) =>
  (['desc', 'asc'] as const).map((order) => ({ sort, order })),
);
const pagesOfSessions = orders.flatMap(({ sort, order }) =>
  Object.entries(sessionListings[sort][order]).map(([name, sql]) => ({ name, sort, order, sql })),
);

const ofProject = {
  ...Object.fromEntries(
    pagesOfSessions.map(({ name, sort, order, sql }) => [`${name} by ${sort}, ${order}`, sql]),
  ),
  ...sessionStatements,
  ...turnStatements,
  ...listingStatements,
  ...hitStatements,
  'addMessage of a session that comes whole': importStatements.addMessage,
  'addSession of one': importStatements.addSession,
  'message of one': importStatements.message,
};

describe.each(Object.entries({ ...ofProject, ...idempotencyStatements }))('the statement %s', (_, sql) => {
  it('walks no table, no whole project or session, and sorts nothing', async () => {
    expect(await plan(sql)).not.toMatch(/SCAN (?!CONSTANT)|TEMP B-TREE|\((project|session)=\?\)/);
  });
});

it('names its project in every statement but the one that forgets old idempotency keys', () => {
  const { forget: _, ...others } = idempotencyStatements;
  for (const sql of Object.values({ ...ofProject, ...others, ...searchStatements })) {
    expect(sql).toContain('project_id = @projectId');
  }
});

it('finds a key by its hash through an index', async () => {
  expect(await plan(keyStatements.find)).toMatch(/^SEARCH api_keys USING INDEX \S+ \(hash=\?\)/);
});

it.each(pagesOfSessions)(
  'begins a page of $name sessions by $sort, $order, where the last one ended',
  async ({ name, sort, order, sql }) => {
    const search = await plan(sql);
    const index = `sessions_${name.replace('Titled', '')}${sort === 'created' ? '_created' : ''}`;
    expect(search).toContain(`SEARCH sessions USING INDEX ${index} (project=? AND `);
    // Some versions of SQLite search for the time alone and step over the rows of that one millisecond.
    const [column, onward] = [`${sort}_at`, order === 'desc' ? '<' : '>'];
    expect(
      [`(${column},session_id)${onward}(?,?)`, `${column}${onward}?`].some((at) => search.includes(at)),
    ).toBe(true);
    // And it stops where the filter ends; of the newest by creation, any may have been active in its time.
    if (order === 'asc') expect(search).toContain(`${column}<?`);
    else if (sort === 'updated') expect(search).toContain('updated_at>?');
  },
);

it.each([
  ['messages', '>'],
  ['history', '<'],
] as const)('begins a page of %s where the last one ended', async (name, comparison) => {
  expect(await plan(listingStatements[name])).toContain(`(session=? AND position${comparison}?)`);
});

it.each(Object.entries(searchStatements))(
  'a search of %s asks the index first, and sorts nothing',
  async (name, sql) => {
    const steps = (await plan(sql))
      .split('\n')
      .filter((step) => /^(SCAN|SEARCH (message|sessions)|USE)/.test(step));
    expect(steps.slice(0, 3)).toEqual([
      expect.stringContaining(`SCAN message_${name} VIRTUAL TABLE INDEX`),
      'SEARCH message USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)',
    ]);
    expect(steps.join()).not.toContain('TEMP B-TREE');
  },
);

it.each(Object.entries(usageStatements))(
  'counts usage by %s from the index alone, from its time on',
  async (_, sql) => {
    expect(await plan(sql)).toContain('SEARCH reply USING COVERING INDEX replies_by_time (created_at>?)');
  },
);

it.each(Object.entries(indexStatements))(
  'bringing the indexes forward, %s, walks no messages',
  async (_, sql) => {
    expect(await plan(sql)).not.toMatch(/SCAN (message|sessions)/);
  },
);
