// Random conversations with alternatives, undo and forks: at a server on a port, over PostgreSQL, and at two servers over one PostgreSQL.
// killed-lines.test.ts has the short form for servers.
import { expect, onTestFinished, test } from 'vitest';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { type FixtureOptions, openServer } from '../server/server-fixture.ts';
import { balance } from '../support/balancer.ts';
import { newKey, openEmbedded } from '../support/embedded.ts';
import { postgresOptions } from '../support/postgres-store.ts';
import { textsInRows } from '../support/remaining-texts.ts';
import { openRemote } from '../support/remote.ts';
import { runs } from '../support/runs.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { projectName, ScriptedEngine } from './lines-place.ts';
import { playRandomLines } from './random-lines.ts';

const owner = (id: string) => ({ id, isGone: (other: string) => other === 'gone' });
const isLong = runs(0, 1) === 1;
const numRuns = runs(1, 60);
const length = runs(25, 40);
const rarely = { comparedEach: 10, textsLeft: null, kills: null };

const keysOf = (backend: EmbeddedBackend) => ({ newKey: () => newKey(backend, projectName()) });

async function listening(options: FixtureOptions) {
  const server = await openServer(options);
  onTestFinished(() => server.close());
  return { server, ...(await server.listen()) };
}

test.runIf(isLong)('a server on a port handles alternatives, undo and forks', async () => {
  const engine = new ScriptedEngine();
  let store: SessionStore | undefined;
  const around = (opened: SessionStore) => {
    store = opened;
    return opened;
  };
  const { server, url } = await listening({ engines: engine.engines, owner: owner('this'), around });
  if (store === undefined) throw new Error('The store was not opened.');
  const { backend } = await openRemote(url);
  onTestFinished(() => backend.close());
  const place = {
    backend,
    engine,
    store,
    ...keysOf(server.backend),
    cutsLater: true,
    ...rarely,
  };
  await playRandomLines(place, numRuns, length);
});

test('PostgreSQL handles alternatives, undo and forks', async () => {
  const database = await sharedPostgres();
  const engine = new ScriptedEngine();
  const { store } = await openPostgresStore(postgresOptions(database));
  const openStore = async () => store;
  const backend = await openEmbedded('', { engines: engine.engines, owner: owner('this'), openStore });
  onTestFinished(() => backend.close());
  const place = { backend, engine, store, ...keysOf(backend), cutsLater: false, ...rarely };
  const textsLeft = (texts: readonly string[]) => textsInRows(database, texts);
  await playRandomLines({ ...place, textsLeft }, numRuns, length);
  expect((await backend.administration.inspectStore()).integrity).toBe('ok');
});

test.runIf(isLong)('two servers over one PostgreSQL handle alternatives, undo and forks', async () => {
  const database = await sharedPostgres();
  const engine = new ScriptedEngine();
  const open = async (server?: { readonly owner: string }) =>
    (await openPostgresStore(postgresOptions(database, server && { server }))).store;
  const servers = await Promise.all(
    ['first', 'second'].map((id) =>
      listening({ engines: engine.engines, owner: owner(id), openStore: () => open({ owner: id }) }),
    ),
  );
  const balancer = await balance(servers.map(({ port }) => Number(port)));
  const { backend } = await openRemote(balancer.url);
  const store = await open();
  onTestFinished(async () => {
    await backend.close();
    await balancer.close();
    await store.close();
  });
  const [first] = servers;
  if (first === undefined) throw new Error('No server was opened.');
  const place = { backend, engine, store, ...keysOf(first.server.backend), cutsLater: true, ...rarely };
  await playRandomLines(place, numRuns, length);
});
