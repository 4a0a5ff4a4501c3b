// What a power cut leaves. Each command is recorded with its writes and syncs; then the disk is rebuilt as it may be found after a cut,
// and the next command runs on it. `scripts/power-cut.js` does the same at every moment.
import { afterAll, expect, test } from 'vitest';
import { configurationScenarios } from '../support/power-cut/configuration-scenarios.ts';
import { conversationScenarios } from '../support/power-cut/conversation-scenarios.ts';
import { Recorder } from '../support/power-cut/recording.ts';
import { sessionScenarios } from '../support/power-cut/session-scenarios.ts';
import { storeScenarios } from '../support/power-cut/store-scenarios.ts';
import { runTrial } from '../support/power-cut/trial.ts';

const recorder = Recorder.make();
const isMissing = typeof recorder === 'string';
if (isMissing && process.env['CI']) throw new Error(recorder);
if (isMissing) process.stderr.write(`Skipped: ${recorder}\n`);
afterAll(() => {
  if (!isMissing) recorder.remove();
});

const scenarios = [
  ...conversationScenarios,
  ...configurationScenarios,
  ...sessionScenarios,
  ...storeScenarios,
];

test.skipIf(isMissing).each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
  'what %s has said outlives a power cut',
  async (_name, scenario) => {
    if (isMissing) return;
    const extent = { everyMoment: false, randomStates: 0, random: Math.random };
    expect((await runTrial(scenario, recorder, extent)).faults).toEqual([]);
  },
);
