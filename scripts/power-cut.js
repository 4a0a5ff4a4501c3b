// Simulates a power cut at every moment of many commands, and runs the next command on the resulting disk:
// `node scripts/power-cut.js [--random N] [--seed N] [--only NAME]`, after a build, on Linux with a C compiler. The suite has a short form.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadedModules } from './bundled-modules.js';

const { values } = parseArgs({
  options: {
    random: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});

const home = mkdtempSync(join(tmpdir(), 'parley-power-cut-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
const folder = 'test/support/power-cut';
const {
  Recorder,
  runTrial,
  conversationScenarios,
  configurationScenarios,
  sessionScenarios,
  storeScenarios,
} = await loadedModules(home, [
  `${folder}/recording.ts`,
  `${folder}/trial.ts`,
  `${folder}/conversation-scenarios.ts`,
  `${folder}/configuration-scenarios.ts`,
  `${folder}/session-scenarios.ts`,
  `${folder}/store-scenarios.ts`,
]);

/** Numbers from 0 to 1, the same for the same seed. (Mulberry32, public domain) */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const recorder = Recorder.make();
if (typeof recorder === 'string') throw new Error(recorder);
const extent = {
  everyMoment: true,
  randomStates: Number(values.random),
  random: seeded(Number(values.seed)),
};
const all = [...conversationScenarios, ...configurationScenarios, ...sessionScenarios, ...storeScenarios];
for (const scenario of all.filter(({ name }) => name.includes(values.only))) {
  const { name, states, faults } = await runTrial(scenario, recorder, extent);
  process.stdout.write(`${name}: ${states} states, ${faults.length} faults\n`);
  for (const fault of faults.slice(0, 20)) process.stdout.write(`  ${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
recorder.remove();
