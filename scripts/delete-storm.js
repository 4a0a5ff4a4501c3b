// Deletes at full size against a server that fails in every way. Deletes, archives and tags with clients that are killed at random moments:
// `node scripts/delete-storm.js [--postgres] [--ids N] [--kills N] [--killed-ids N]`, after a build. `--postgres`: the clients use a temporary
// PostgreSQL server, and every other kill ends their connections instead of the process. The suite has a short form.
import { openDatabase, storeIn } from './bench-postgres/database.js';
import { loadedModules } from './bundled-modules.js';
import { flag, readOptions, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const { postgres, ids, kills, killedIds } = readOptions({
  postgres: flag,
  ids: wholeNumber(100_000, { from: 100 }),
  kills: wholeNumber(20),
  'killed-ids': wholeNumber(100_000, { from: 2 }),
});

const home = temporaryDirectory();
const { Place, troubledDeletes, killedClients, postgresStorm, sqliteStorm, startPostgres } =
  await loadedModules(home, [
    'test/support/parley.ts',
    'test/support/delete-storm.ts',
    'test/support/storm-store.ts',
    'test/support/postgres-server.ts',
  ]);
const random = Math.random;
const reports = [];
const database = postgres ? await openDatabase(undefined, startPostgres) : null;
if (database === null) {
  const troubled = new Place();
  reports.push({ storm: 'failing server', ...(await troubledDeletes(troubled, { ids, random })) });
  troubled.remove();
}
for (const kind of ['delete', 'archive', 'tag']) {
  const killed = new Place();
  const store =
    database === null ? sqliteStorm(killed) : postgresStorm(database, storeIn(database, kind), kind);
  await killed.output(['keys', 'create', '--project', 'default', '--use'], { env: store.env });
  const existing = await store.fill(killedIds + 1, Date.now() - killedIds - 1);
  reports.push({
    storm: `killed clients: ${kind}`,
    ...(await killedClients(killed, { kind, ids: killedIds, kills, existing, random }, store)),
  });
  killed.remove();
}
await database?.close();
for (const report of reports) {
  const faults = report.faults.slice(0, 20);
  process.stdout.write(`${JSON.stringify({ ...report, faults }, null, 2)}\n`);
}
if (reports.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
