// Makes the database, the network or a server fail under 32 callers of two servers over one PostgreSQL with TLS. What was acknowledged must be
// in the store exactly once, and no call may fail: `node scripts/chaos-postgres.js [--only NAME,NAME] [--seconds N] [--keys N]`, after
// `npm run build`. The exit status is 1 if a guarantee is broken. The suite has a short form (test/durability/postgres-chaos.test.ts).
import { loadedModules } from './bundled-modules.js';
import { runKeys } from './chaos-postgres/keys.js';
import { phases } from './chaos-postgres/phases.js';
import { runServerLoss } from './chaos-postgres/server-loss.js';
import { say, tableHead, tableRow } from './chaos-postgres/table.js';
import { World } from './chaos-postgres/world.js';
import { readOptions, text, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const { only, seconds, keys } = readOptions({
  only: text(),
  seconds: wholeNumber(),
  keys: wholeNumber(10_000),
});

const hourMs = 3_600_000;
const runs = {
  ...Object.fromEntries(Object.entries(phases).map(([name, phase]) => [name, () => runPhase(phase)])),
  'server-kill': () => inWorld({}, (world) => runServerLoss(world, 'SIGKILL', 6000)),
  'server-term': () => inWorld({}, (world) => runServerLoss(world, 'SIGTERM', 500)),
  keys: () => inWorld({}, (world) => runKeys(world, keys)),
  'clocks-kill': () => inWorld(apart, (world) => runServerLoss(world, 'SIGKILL', 6000)),
  'clocks-keys': () => inWorld(apart, (world) => runKeys(world, Math.ceil(keys / 10))),
};
const apart = { clocksMs: [hourMs, -hourMs] };
const names = only?.split(',') ?? Object.keys(runs);
for (const name of names)
  if (runs[name] === undefined) throw new Error(`There is no ${name}, only ${Object.keys(runs).join(', ')}.`);

const home = temporaryDirectory();
let current = null;
process.on('exit', () => current?.endEngines());
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
const tools = await loadedModules(home, ['test/support/postgres-server.ts', 'test/support/silent-proxy.ts']);

say(tableHead);
for (const name of names) {
  const result = await runs[name]();
  say(tableRow(name, result));
  for (const problem of result.problems) say(`    ${problem}`);
  if (result.problems.length > 0) process.exitCode = 1;
}

/** Runs a phase in an environment of its own, which is removed afterwards. */
async function inWorld(options, run) {
  const world = await World.open(tools, options);
  current = world;
  try {
    return await run(world);
  } finally {
    await world.close();
    current = null;
  }
}

function runPhase({ seconds: usual, allowsRefusals = false, hasStandby = false, run, truth }) {
  return inWorld({ hasStandby }, async (world) => {
    await world.live(() => run(world, seconds ?? usual));
    return world.result({ allowsRefusals, engine: truth?.(world) });
  });
}
