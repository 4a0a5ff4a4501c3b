// A store does not depend on the library that wrote it: each library goes on where the other one ended. test/durability/kill.test.ts kills
// the processes of both in between. Where Node has one library, that one follows itself.
import { expect, test } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { schema } from '../../../src/store/sqlite/schema.ts';
import { allDrivers } from '../../support/driver.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { newProject, newSession, searchFilter, turnStart } from '../store-samples.ts';

const pairs = allDrivers.flatMap((first) => allDrivers.map((second) => ({ first, second })));

test.each(pairs)(
  'a store that $first.name wrote is read and written by $second.name',
  async ({ first, second }) => {
    const directory = temporaryDirectory();
    const opened = async (driver: typeof first) => openSqliteStore({ ...storeOptions(directory), driver });
    const { store } = await opened(first);
    const project = await newProject(store);
    const session = await newSession(store, project);
    const found = async (from: typeof store, word: string) =>
      (await from.searchSessions(project, searchFilter(word), new AbortController().signal)).items.length;
    await store.beginTurn(project, turnStart({ session_id: session, content: 'é东京 first' }));
    await store.close();
    const { store: next } = await opened(second);
    expect(await found(next, 'first')).toBe(1);
    await next.changeSession(project, session, { title: 'renamed' });
    await next.close();
    const { store: last } = await opened(first);
    expect((await last.findSession(project, session))?.title).toBe('renamed');
    expect(await found(last, 'é东京')).toBe(1);
    await last.close();
  },
);

test.each(pairs)('an older store of $first.name is migrated by $second.name', async ({ first, second }) => {
  for (const { version } of schema.slice(0, -1)) {
    const directory = temporaryDirectory();
    const older = { ...storeOptions(directory), driver: first, migrations: schema.slice(0, version) };
    const { store: before } = await openSqliteStore(older);
    await before.close();
    const { store, migration } = await openSqliteStore({ ...storeOptions(directory), driver: second });
    expect(migration).toMatchObject({ from: version, to: schema.length });
    const project = await newProject(store);
    const session = await newSession(store, project, { title: 'after' });
    await store.close();
    const { store: last } = await openSqliteStore({ ...storeOptions(directory), driver: first });
    expect((await last.findSession(project, session))?.title).toBe('after');
    await last.close();
  }
});
