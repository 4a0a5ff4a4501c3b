// A server over a PostgreSQL whose tables are on a small disk that is full: acknowledged data is intact, nothing is half done, reads continue,
// and everything continues when there is room again. Where no disk may be mounted, the test is skipped.
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { bodyOf, openServer, type ServerFixture } from '../server/server-fixture.ts';
import { nobody, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { postgresOptions } from '../support/postgres-store.ts';
import { SmallDisk } from '../support/small-disk.ts';

const trial = SmallDisk.mount();
trial?.unmount();

describe.skipIf(trial === null)('with the tables on a disk of their own', () => {
  let disk: SmallDisk;
  let database: PostgresServer;
  let server: ServerFixture;
  beforeAll(async () => {
    database = await startPostgres();
    disk = SmallDisk.mount() as SmallDisk;
    const place = join(disk.path, 'tables');
    mkdirSync(place);
    chmodSync(disk.path, 0o711);
    chownSync(place, nobody, nobody);
    await database.rows(`CREATE TABLESPACE small LOCATION '${place}'`);
    await database.rows(`ALTER DATABASE postgres SET default_tablespace = small`);
    const options = postgresOptions(database, { server: { owner: 'served', beatMs: 50 }, patienceMs: 500 });
    server = await openServer({
      owner: { id: 'served', isGone: () => false },
      openStore: async () => (await openPostgresStore(options)).store,
    });
  }, 60_000);
  afterAll(async () => {
    await server.close();
    await database.stop();
    disk.unmount();
  });

  const chat = (message: string, session: { readonly session_id?: string } = {}) =>
    server.ask('POST', '/v1/chat', { body: { mode: 'echo', message, ...session } });

  test('every state of a full disk fails clearly, keeps what was acknowledged, and passes', async () => {
    const first = await bodyOf(await chat('room'));
    expect(first).toMatchObject({ success: true });
    const { session_id } = first.data;
    const statuses = new Set<number>();
    const acknowledged = ['room'];
    // Among the sizes are those at which the message fits and its reply does not.
    for (let pagesLeft = 0; pagesLeft < 40; pagesLeft += 4) {
      disk.fill(pagesLeft);
      for (let full = false; !full; ) {
        const message = `${acknowledged.length}: ${randomText(20_000)}`;
        const answer = await chat(message, { session_id });
        statuses.add(answer.status);
        const { error } = await bodyOf(answer.clone());
        full = error?.code === 'STORAGE_FULL';
        if (answer.status === 200) acknowledged.push(message);
        // A turn whose reply was not stored is free after the next beat of the server.
        else expect(error?.code).toMatch(/^(STORAGE_FULL|SESSION_BUSY)$/);
        expect(await answer.text()).not.toMatch(/base\/|pg_tblspc|parley-disk|127\.0\.0\.1|could not extend/);
      }
      expect((await server.ask('GET', `/v1/sessions/${session_id}`)).status).toBe(200);
      disk.free();
    }
    expect([...statuses].sort()).toContain(507);
    await expect.poll(async () => (await chat('again', { session_id })).status).toBe(200);
    const { items } = (await bodyOf(await server.ask('GET', `/v1/sessions/${session_id}/messages?limit=200`)))
      .data;
    const replies = items.filter(({ finish_reason }: { finish_reason: string }) => finish_reason === 'stop');
    expect(replies.map(({ content }: { content: string }) => content)).toEqual([...acknowledged, 'again']);
    expect((await server.backend.administration.inspectStore()).integrity).toBe('ok');
    expect(JSON.stringify(server.log())).toContain('No space left on device');
  });
});

/** Text that PostgreSQL cannot compress. */
function randomText(length: number): string {
  return Array.from({ length: length / 8 }, () => Math.random().toString(36).slice(2, 10).padEnd(8)).join('');
}
