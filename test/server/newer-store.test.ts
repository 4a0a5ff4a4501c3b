// A store that a newer version migrates while a server of this version runs.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import { RawDatabase } from '../support/raw-database.ts';
import { bodyOf, openServer } from './server-fixture.ts';

test('a server whose store is migrated by a newer version continues, is not ready, and explains what it cannot do', async () => {
  let opened: SessionStore | null = null;
  const server = await openServer({
    around(store) {
      opened = store;
      return store;
    },
    ready: async () => opened?.ping(),
  });
  const chat = { body: { mode: 'echo', message: 'a fox' } };
  expect((await server.ask('POST', '/v1/chat', chat)).status).toBe(200);
  const newer = new RawDatabase(join(server.directory, 'parley.db'));
  newer.exec('ALTER TABLE search_apart RENAME TO search_aside; PRAGMA user_version = 999;');
  newer.close();

  expect((await server.ask('POST', '/v1/chat', chat)).status).toBe(200);
  expect((await server.ask('GET', '/v1/sessions')).status).toBe(200);
  for (const path of ['/readyz', '/v1/sessions/search?q=fox']) {
    const response = await server.ask('GET', path);
    const { error } = await bodyOf(response);
    expect([path, response.status, error?.code]).toEqual([path, 503, 'UNAVAILABLE']);
    expect(error?.message).toContain('newer version');
  }
  expect(JSON.stringify(server.log())).toContain('has schema 999');
  await server.close();
});
