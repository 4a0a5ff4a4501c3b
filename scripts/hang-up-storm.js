// Closes the terminal of the program, in every state and at random moments after it: `node scripts/hang-up-storm.js [--rounds N]
// [--state WORDS]`, after a build. The suite tests each state once.
import { loadedModules } from './bundled-modules.js';
import { readOptions, text, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const { rounds, state: words } = readOptions({ rounds: wholeNumber(10), state: text('') });
const maxDelayMs = 60;

const home = temporaryDirectory();
const { openHangUp, hangUp, hangUpStates } = await loadedModules(home, ['test/support/hang-up.ts']);

for (const state of hangUpStates.filter(({ name }) => name.includes(words))) {
  const fixture = await openHangUp();
  const endings = {};
  for (let round = 0; round < rounds; round += 1) {
    const ending = await hangUp(state, fixture, Math.random() * maxDelayMs);
    const fault = ending === 'stuck' ? null : await state.leaves?.(fixture);
    const outcome = `${JSON.stringify(ending)}${fault ? ` ${fault}` : ''}`;
    endings[outcome] = (endings[outcome] ?? 0) + 1;
  }
  process.stdout.write(`${state.name}: ${JSON.stringify(endings)}\n`);
  await fixture.close();
}
process.exit();
