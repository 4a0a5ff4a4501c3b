// The service over a schema of the database, assembled as in the program, with an engine that gets the last 20 messages of the session and
// returns the message. The mode `echo` of the program reads no history.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { bundledModule, servedModules } from '../served-app.js';

/** The modules that `bundledModules` must bundle for it. */
export const homeModules = [
  ...servedModules,
  'src/store/postgres/open.ts',
  'src/local/local-store-rules.ts',
  'test/support/postgres-server.ts',
];

export async function openHome(url, schema, bundle) {
  const { engineOf, openEmbedded } = await bundledModule(bundle, 'embedded');
  const { openPostgresStore } = await bundledModule(bundle, 'open');
  const { storeRules } = await bundledModule(bundle, 'local-store-rules');
  const owner = `srv_${randomBytes(16).toString('base64url')}`;
  const { hostname, port, username, pathname } = new URL(url);
  const place = { host: hostname, port: Number(port || 5432), user: username, database: pathname.slice(1) };
  const engines = engineOf(async function* ({ message }) {
    yield { type: 'text', text: message };
    yield { type: 'finish', reason: 'stop', usage: null };
  }, 20);
  const openStore = async () => {
    const { store } = await openPostgresStore({
      ...{ name: url, hosts: [place], schema, now: Date.now, rules: storeRules, random: Math.random },
      ...{ connections: 8, patienceMs: 10_000, prepare: true, server: { owner } },
    });
    return store;
  };
  return openEmbedded(join(bundle, 'none'), {
    engines,
    openStore,
    owner: { id: owner, isGone: () => false },
  });
}
