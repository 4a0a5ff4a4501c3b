// Simulates a power cut at every moment of many commands, and runs the next command on the resulting disk:
// `node scripts/power-cut.js [--random N] [--seed N] [--only NAME]`, after a build, on Linux with a C compiler. The suite has a short form.
import { loadedModules } from './bundled-modules.js';
import { readOptions, text, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const {
  random: randomStates,
  seed,
  only,
} = readOptions({ random: wholeNumber(1, { from: 0 }), seed: wholeNumber(1, { from: 0 }), only: text('') });

const home = temporaryDirectory();
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
  randomStates,
  random: seeded(seed),
};
const all = [...conversationScenarios, ...configurationScenarios, ...sessionScenarios, ...storeScenarios];
for (const scenario of all.filter(({ name }) => name.includes(only))) {
  const { name, states, faults } = await runTrial(scenario, recorder, extent);
  process.stdout.write(`${name}: ${states} states, ${faults.length} faults\n`);
  for (const fault of faults.slice(0, 20)) process.stdout.write(`  ${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
recorder.remove();
