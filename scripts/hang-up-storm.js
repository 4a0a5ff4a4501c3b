// Closes the terminal of the program, in every state and at random moments after it: `node scripts/hang-up-storm.js [--rounds N]
// [--state WORDS]`, after a build. The suite tests each state once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadedModules } from './bundled-modules.js';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '10' }, state: { type: 'string', default: '' } },
});
const rounds = Number(values.rounds);
if (!(rounds >= 1)) throw new Error('--rounds takes a number from 1.');
const maxDelayMs = 60;

const home = mkdtempSync(join(tmpdir(), 'parley-hang-up-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
const { openHangUp, hangUp, hangUpStates } = await loadedModules(home, ['test/support/hang-up.ts']);

for (const state of hangUpStates.filter(({ name }) => name.includes(values.state))) {
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
