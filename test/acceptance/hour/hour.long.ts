// A scripted hour on a pseudo-terminal against a model that streams Markdown: six rounds with each backend. The rows of the store are checked
// after each round.
import { afterAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { openHome } from './homes.ts';
import { Hour } from './hour.ts';

const rounds = 6;
const servers: PostgresServer[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
});

/** The program refuses a server that may lose commits, so this one syncs. */
async function ownPostgres(): Promise<PostgresServer> {
  const server = await startPostgres([]);
  servers.push(server);
  return server;
}

test.each([
  ['embedded', 'SQLite'],
  ['served', 'SQLite'],
  ['embedded', 'PostgreSQL'],
  ['served', 'PostgreSQL'],
] as const)('an hour of use, %s, over %s', async (kind, database) => {
  const home = await openHome(kind, database === 'SQLite' ? null : await ownPostgres());
  const hour = await Hour.begin(home);
  try {
    for (let round = 1; round <= rounds; round += 1) await hour.round(round, { isWhole: true });
    expect(hour.turns).toBe(rounds * (kind === 'embedded' ? 20 : 19));
  } finally {
    hour.close();
    await home.close();
  }
});
