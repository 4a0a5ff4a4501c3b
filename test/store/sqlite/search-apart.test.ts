// Long messages are in no index, so that no write waits for them. A search finds them all the same.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { SessionStore, Turn } from '../../../src/store/session-store.ts';
import { Connection } from '../../../src/store/sqlite/connection.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { indexStep } from '../../../src/store/sqlite/search-index.ts';
import { driver } from '../../support/driver.ts';
import { fillIndexes } from '../../support/filled-indexes.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import { newProject, once, snippets, startOfTime, turnReply, turnStart } from '../store-samples.ts';

async function begin(store: SessionStore, project: string, content: string, key: string): Promise<Turn> {
  const begun = await store.beginTurn(project, turnStart({ content, idempotencyKey: once(key) }));
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  return begun.turn;
}

function apart(database: Parameters<Parameters<typeof lookInto>[1]>[0]): unknown {
  for (const table of ['message_words', 'message_pieces']) {
    database.prepare(`INSERT INTO ${table} (${table}, rank) VALUES ('integrity-check', 1)`).run();
  }
  return database.prepare('SELECT message FROM search_apart ORDER BY message').pluck().all();
}

const longText = `${'hay '.repeat(20_000)}a Needle in the hAystáck ${'hay '.repeat(100)}`;
const longChinese = `${'草'.repeat(11_000)}東京都の針${'草'.repeat(50)}`;

it('a message that is too long for an index is found by words, phrases, beginnings and characters, by its own project only', async () => {
  const directory = temporaryDirectory();
  const { store } = await openSqliteStore(storeOptions(directory));
  const [mine, other] = [await newProject(store), await newProject(store)];
  const turn = await begin(store, mine, longText, 'text');
  const { session_id } = turn;
  await store.endTurn(mine, turn, turnReply({ content: 'found' }));
  await begin(store, mine, longChinese, 'chinese');
  await begin(store, mine, 'a needle alone', 'short');
  for (const waits of [true, false]) {
    if (!waits) fillIndexes(directory);
    for (const query of ['needle haystack', '"in the haystack"', 'needl* hay*'])
      expect(await snippets(store, mine, query)).toHaveLength(1);
    expect(await snippets(store, mine, 'needle')).toHaveLength(2);
    for (const query of ['都の', '京', '東京都の針'])
      expect(await snippets(store, mine, query)).toHaveLength(1);
    for (const query of ['needles', '"haystack in"', 'hays', '大阪'])
      expect(await snippets(store, mine, query)).toEqual([]);
    expect((await snippets(store, mine, 'haystack'))[0]).toContain('⟦hAystáck⟧');
    for (const query of ['needle', '東京都']) expect(await snippets(store, other, query)).toEqual([]);
  }
  await store.deleteSession(mine, session_id, startOfTime);
  expect(await snippets(store, mine, 'needle')).toEqual(['a ⟦needle⟧ alone']);
  const purge = { projectId: null, deletedBefore: startOfTime + 1 };
  await store.purgeSessions(purge, { expected: 1, keptSince: 0 });
  await store.close();
  expect(lookInto(join(directory, 'parley.db'), apart)).toEqual([3]);
});

it.each([
  ['long by long', longText, longChinese, 1],
  ['long by short', longText, '東京都 needles', 0],
  ['short by long', 'a needle in the haystack', longChinese, 1],
])(
  'a cut reply that was replaced, %s, is found by the words of the new reply',
  async (_, cut, whole, left) => {
    const directory = temporaryDirectory();
    const { store } = await openSqliteStore(storeOptions(directory));
    const project = await newProject(store);
    const turn = await begin(store, project, 'question', 'key');
    await store.endTurn(project, turn, turnReply({ content: cut, finish_reason: 'interrupted' }));
    expect(await snippets(store, project, 'haystack')).toHaveLength(1);
    fillIndexes(directory);
    const again = await begin(store, project, 'question', 'key');
    await store.endTurn(project, again, turnReply({ content: whole }));
    expect(await snippets(store, project, 'haystack')).toEqual([]);
    expect(await snippets(store, project, '東京都')).toHaveLength(1);
    await store.close();
    expect(lookInto(join(directory, 'parley.db'), apart)).toHaveLength(left);
  },
);

it.each([
  ['words', 'mountain '.repeat(4500)],
  ['a script without spaces', '山'.repeat(7000)],
])('one transaction indexes about 40 KiB of %s, and no more', async (_, content) => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore(storeOptions(directory));
  const project = await newProject(store);
  for (let turn = 0; turn < 3; turn += 1) await begin(store, project, content, `turn ${turn}`);
  const path = join(directory, 'parley.db');
  const connection = Connection.open(driver, path);
  const reached = [1, 2, 3, 4].map(() => indexStep(connection, { projectId: project }));
  connection.close();
  expect(reached.map((indexed) => indexed?.message)).toEqual([1, 2, 3, undefined]);
});
