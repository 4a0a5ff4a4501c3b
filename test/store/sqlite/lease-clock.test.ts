// The clock of leases: a restart of the machine, a lease of an older program, and a purge.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { schema } from '../../../src/store/sqlite/schema.ts';
import { addProject } from '../../support/older-store.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import { newId, newProject, startOfTime, turnStart } from '../store-samples.ts';
import { begin } from '../turn-steps.ts';

it.each([
  ['while the machine runs', 1_000_000, 'busy'],
  ['after it was started again', 0, 'begun'],
])('a running turn, %s (%s ms on the clock), is %s for another chat', async (_, sinceBoot, kind) => {
  const directory = temporaryDirectory();
  const before = await openTestStore({ ...storeOptions(directory), sinceBoot: () => 1_000_000 });
  const project = await newProject(before.store);
  const { session_id } = await begin(before.store, project);
  const after = await openTestStore({ ...storeOptions(directory), sinceBoot: () => sinceBoot });
  expect((await after.store.beginTurn(project, turnStart({ session_id }))).kind).toBe(kind);
});

it('a turn that a program of schema 5 left open is over, and the next chat closes it', async () => {
  const directory = temporaryDirectory();
  const { store: old } = await openSqliteStore({
    ...storeOptions(directory),
    migrations: schema.slice(0, 5),
  });
  await old.close();
  const project = addProject(join(directory, 'parley.db'));
  const session_id = newId('ses');
  lookInto(join(directory, 'parley.db'), (database) => {
    database
      .prepare(
        `INSERT INTO sessions (session_id, project, created_at, updated_at, message_count, turn_owner, turn_until,
           turn_position) VALUES (?, (SELECT id FROM projects), 1, 1, 1, 'owner', ?, 0)`,
      )
      .run(session_id, Date.now() + 15_000);
    database.exec(
      `INSERT INTO messages (session, position, message_id, role, mode, created_at, content)
       VALUES ((SELECT id FROM sessions), 0, 'msg', 'user', 'echo', 1, 'said')`,
    );
  });
  const { store } = await openTestStore(storeOptions(directory));
  expect(await begin(store, project, { session_id })).toMatchObject({ position: 2, epoch: 1 });
});

it('a purge leaves a deleted session with a running turn, and erases it once the lease is over', async () => {
  let clock = 1_000_000;
  const options = { ...storeOptions(temporaryDirectory()), sinceBoot: () => clock };
  const { store } = await openTestStore(options);
  const project = await newProject(store);
  const { session_id } = await begin(store, project);
  await store.deleteSession(project, session_id, startOfTime);
  const filter = { projectId: project, deletedBefore: startOfTime + 1 };
  expect((await store.planPurge(filter)).sessions).toBe(0);
  clock += 60_000;
  expect((await store.planPurge(filter)).sessions).toBe(1);
  const purge = await store.purgeSessions(filter, { expected: 1, keptSince: 0 });
  expect(purge).toMatchObject({ kind: 'purged', report: { sessions: 1 } });
});
