// The limits of a search in the SQLite store: how many rows are read, and of which project.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { searchStatements } from '../../../src/store/sqlite/search-hits.ts';
import { fillIndexes } from '../../support/filled-indexes.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import { newProject, search, turnReply, turnStart } from '../store-samples.ts';

it.each(
  (['words', 'pieces'] as const).flatMap((index) => [
    { index, order: 'older', place: { before: 5 }, numbers: [4, 3, 2] } as const,
    { index, order: 'newer', place: { from: 2 }, numbers: [2, 3, 4] } as const,
  ]),
)(
  'a step to $order hits in the index of $index reads no more than its limit',
  async ({ index, order, place, numbers }) => {
    const directory = temporaryDirectory();
    const { store } = await openSqliteStore(storeOptions(directory));
    const project = await newProject(store);
    for (let turn = 0; turn < 5; turn += 1)
      await store.beginTurn(project, turnStart({ content: 'fox 東京都' }));
    expect((await search(store, project, 'fox')).items).toHaveLength(5);
    await store.close();
    fillIndexes(directory);
    const row = lookInto(join(directory, 'parley.db'), (database) =>
      database
        .prepare(searchStatements[index][order])
        .get({ projectId: project, expression: '"fox"', ...place, limit: 3 }),
    );
    expect(row).toEqual({ numbers: JSON.stringify(numbers) });
  },
);

it.each([
  ['words', 'fox', ''],
  ['pieces', '東京都', `|| '  '`],
])(
  'a message that the index of %s assigns to the wrong project is shown to no project',
  async (index, text, ending) => {
    const directory = temporaryDirectory();
    const { store: made } = await openSqliteStore(storeOptions(directory));
    const [mine, other] = [await newProject(made), await newProject(made)];
    for (let turn = 0; turn < 7; turn += 1) await made.beginTurn(mine, turnStart({ content: text }));
    expect((await search(made, mine, text, 5)).next_cursor).not.toBeNull();
    await made.close();
    fillIndexes(directory);
    lookInto(join(directory, 'parley.db'), (database) =>
      database.exec(`
        INSERT INTO message_${index} (message_${index}, rowid, content, owner)
          SELECT 'delete', id, content ${ending}, '001' FROM messages;
        INSERT INTO message_${index} (rowid, content, owner) SELECT id, content ${ending}, '002' FROM messages;`),
    );
    const { store } = await openTestStore(storeOptions(directory));
    const nothing = { items: [], next_cursor: null, newest_only: false };
    for (const project of [other, mine]) expect(await search(store, project, text, 5)).toEqual(nothing);
  },
);

it.each([
  ['wait for the index', 'fox'],
  ['are too long for the index', `fox ${'x'.repeat(100 * 1024)}`],
])('messages of another project that %s make no further page', async (_, content) => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const [mine, other] = [await newProject(store), await newProject(store)];
  for (let turn = 0; turn < 3; turn += 1) await store.beginTurn(other, turnStart({ content }));
  expect((await search(store, other, 'fox', 2)).next_cursor).not.toBeNull();
  const nothing = { items: [], next_cursor: null, newest_only: false };
  expect(await search(store, mine, 'fox', 2)).toEqual(nothing);
});

it('a short word is found, and found alike, whatever begins with it in other projects', async () => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const [mine, other] = [await newProject(store), await newProject(store)];
  await store.beginTurn(mine, turnStart({ content: '東京の fox' }));
  const searches = () =>
    Promise.all(['東', '京の', '東 fox', '東 "京の f"', '西'].map((q) => search(store, mine, q)));
  const before = await searches();
  expect(before.map(({ items }) => items.length)).toEqual([1, 1, 1, 1, 0]);
  for (const from of [0x4e00, 0x5a00, 0x6600]) {
    const pieces = Array.from({ length: 3000 }, (_, index) => `東${String.fromCharCode(from + index)}`);
    await store.beginTurn(other, turnStart({ content: pieces.join(' ') }));
  }
  expect((await search(store, other, '東')).items).toHaveLength(3);
  expect(await searches()).toEqual(before);
});

it('the texts of the newest 16 MiB of hits are read for their scores; in other hits a word counts once', async () => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const project = await newProject(store);
  const say = async (content: string) => {
    const begun = await store.beginTurn(project, turnStart({ content }));
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    return begun.turn;
  };
  const scores = async () => {
    const { items } = await search(store, project, 'fox');
    return Object.fromEntries(items.map(({ score, hits }) => [hits[0]?.snippet.slice(0, 18), score]));
  };
  await say('fox fox fox');
  await say('fox and owl');
  const before = await scores();
  expect(before['⟦fox⟧ ⟦fox⟧ ⟦fox⟧']).toBeGreaterThan(before['⟦fox⟧ and owl'] as number);
  const content = `fox${' '.repeat(16 * 1024 * 1024)}`;
  await store.endTurn(project, await say('question'), turnReply({ content }));
  const after = await scores();
  expect(Object.keys(after)).toHaveLength(3);
  expect(after['⟦fox⟧ ⟦fox⟧ ⟦fox⟧']).toBe(after['⟦fox⟧ and owl']);
});
