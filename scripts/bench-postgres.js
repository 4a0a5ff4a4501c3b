// Measures the store in PostgreSQL, as ratios to pgbench, a bare handler, SQLite and a small store in the same run:
// `node scripts/bench-postgres.js [--rows 100000] [--rounds 5] [--only rates,deletes,large] [--postgres URL] [--json] [--check]`.
// The cases alternate within a round, so that a busy machine slows all of them. `--rows`: the sessions of the large store, with five times as
// many messages; 1,000,000 take half an hour to fill and 7 GB. `--postgres`: a database on this machine, whose schemas `bench_*` are used
// and kept; a large store is filled once there. Without it, a temporary server is started. It needs the build and pgbench.
import { loadavg } from 'node:os';
import { openDatabase } from './bench-postgres/database.js';
import { measureDeletes } from './bench-postgres/delete-case.js';
import { homeModules } from './bench-postgres/home.js';
import { measureLarge } from './bench-postgres/large-cases.js';
import { measureRates } from './bench-postgres/rate-cases.js';
import { describe } from './bench-postgres/report.js';
import { bundledModules } from './bundled-modules.js';
import { environment, machine, printReport, reportOptions, run } from './measure.js';
import { readOptions, text, wholeNumber } from './script-options.js';
import { bundledModule } from './served-app.js';
import { temporaryDirectory } from './temporary-directory.js';

const {
  rows: sessions,
  rounds,
  only,
  postgres,
  ...output
} = readOptions({
  rows: wholeNumber(100_000, { from: 2000 }),
  rounds: wholeNumber(5),
  only: text('rates,deletes,large'),
  postgres: text(),
  ...reportOptions,
});
const parts = { rates: measureRates, deletes: measureDeletes, large: measureLarge };
const chosen = only.split(',');
if (sessions % 1000 !== 0) throw new Error('--rows must be a multiple of 1000.');
for (const name of chosen)
  if (!(name in parts)) throw new Error(`--only must be one or more of: ${Object.keys(parts).join(', ')}.`);

const home = temporaryDirectory();
const children = [];
let database;
try {
  const bundle = await bundledModules(home, homeModules);
  const { startPostgres } = await bundledModule(bundle, 'postgres-server');
  database = await openDatabase(postgres, startPostgres);
  const before = load();
  const say = (text) => process.stderr.write(`${text}\n`);
  const cases = [];
  for (const name of chosen) {
    cases.push(...(await parts[name]({ database, home, bundle, children, rounds, sessions, say })));
    for (const child of children.splice(0)) child.kill('SIGKILL');
  }
  const env = environment(home);
  const bare = Array.from(
    { length: rounds },
    () => run(['-e', '0'], { env, expect: () => true }).milliseconds,
  );
  const report = {
    ...{ machine: machine(home, bare), database: database.version, load: { before, after: load() } },
    ...{ rounds, sessions, cases },
  };
  printReport(report, { ...output, describe });
} finally {
  for (const child of children) child.kill('SIGKILL');
  await database?.close();
}

function load() {
  return loadavg()[0].toFixed(1);
}
