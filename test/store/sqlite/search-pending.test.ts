// A search of a served store waits for no other project: what is in no index yet is found all the same, once, and by its project alone.
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { SessionStore } from '../../../src/store/session-store.ts';
import { openDatabase } from '../../../src/store/sqlite/binding.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { type ProcessesOf, StoreProcesses } from '../../../src/store/sqlite/store-processes.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { openTestStore, temporaryDirectory } from '../../support/test-store.ts';
import { newProject, newSession, snippets, startOfTime, turnStart } from '../store-samples.ts';

const workerFile = new URL('../../../dist/store-worker.cjs', import.meta.url);
const processes: ProcessesOf = (place) => new StoreProcesses(workerFile, place);

async function begin(store: SessionStore, project: string, content: string): Promise<string> {
  const begun = await store.beginTurn(project, turnStart({ content }));
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  return begun.turn.session_id;
}

/** A store with two projects, the first with so many messages that are in no index. */
async function storeBehind(count: number) {
  const directory = temporaryDirectory();
  const path = join(directory, 'parley.db');
  const { store: made } = await openSqliteStore(storeOptions(directory));
  const [large, small] = [await newProject(made), await newProject(made)];
  const session = await newSession(made, large);
  await made.close();
  lookInto(path, (database) =>
    database.exec(`
      INSERT INTO messages (session, position, message_id, role, mode, created_at, content)
        WITH numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${count})
        SELECT id, n, 'msg_' || n, 'user', 'echo', n, 'a needle of the other' FROM numbers JOIN sessions
        WHERE session_id = '${session}'`),
  );
  const { store } = await openTestStore({ ...storeOptions(directory), processes });
  return { path, store, large, small };
}

function progress(path: string): { readonly through: number; readonly newest: number } {
  const sql = 'SELECT through, (SELECT max(id) FROM messages) AS newest FROM search_progress';
  return lookInto(path, (database) => database.prepare(sql).get()) as { through: number; newest: number };
}

it('a search finds its project’s messages while nothing can come into the indexes', async () => {
  const { path, store, small } = await storeBehind(1000);
  for (const content of ['a needle in the hay', '東京都の針', 'pin', `${'hay '.repeat(20_000)} knife`])
    await begin(store, small, content);
  const gone = await begin(store, small, 'a needle that is gone');
  await store.deleteSession(small, gone, startOfTime);
  const other = openDatabase(path);
  onTestFinished(() => {
    other.close();
  });
  other.exec('BEGIN IMMEDIATE');
  expect(await snippets(store, small, 'needle hay')).toEqual(['a ⟦needle⟧ in the ⟦hay⟧']);
  for (const query of ['"in the hay"', 'need*', '京都の', 'pin', 'knife'])
    expect(await snippets(store, small, query)).toHaveLength(1);
  for (const query of ['other', 'needles', '大阪', 'gone'])
    expect(await snippets(store, small, query)).toEqual([]);
  expect(other.prepare('SELECT through FROM search_progress').pluck().get()).toBe(0);
  other.exec('ROLLBACK');
});

it('what comes into the indexes is found once, before and after', async () => {
  const { path, store, small } = await storeBehind(1000);
  await begin(store, small, 'a pin and a needle');
  do expect(await snippets(store, small, 'needle')).toEqual(['a pin and a ⟦needle⟧']);
  while (progress(path).through < progress(path).newest);
  expect(await snippets(store, small, 'needle')).toHaveLength(1);
});

it('a search of a project with more than can be looked through waits until its messages are in the indexes', async () => {
  const { path, store, large } = await storeBehind(10_001);
  expect(await snippets(store, large, 'needle')).toHaveLength(3);
  const { through, newest } = progress(path);
  expect(through).toBe(newest);
});
