// Kills syncs over `parley serve` at random moments while both places change, and checks that both end with the same sessions and all
// messages: `node scripts/sync-kill-storm.js [--kills 50] [--sessions 12]`, after a build. The suite has a short form.
import { loadedModules } from './bundled-modules.js';
import { readOptions, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const { kills, sessions } = readOptions({ kills: wholeNumber(50), sessions: wholeNumber(12) });

const home = temporaryDirectory();
const { Place, servePlace, syncKills } = await loadedModules(home, [
  'test/support/parley.ts',
  'test/support/served-place.ts',
  'test/support/sync-kills.ts',
]);
const here = new Place();
const there = new Place();
await there.output(['models']);
const { key } = await there.answer(['keys', 'create', '--project', 'default']);
const served = await servePlace(there);
try {
  const login = ['login', '--profile', 'other', '--url', served.url, '--key-stdin'];
  await here.output(['models']);
  await here.output(login, { stdin: `${key}\n` });
  await here.output(['profiles', 'use', 'local']);
  const report = await syncKills(here, { kills, sessions, random: Math.random });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  if (report.faults.length > 0) process.exitCode = 1;
} finally {
  await served.end('SIGTERM');
}
if (process.exitCode === 1)
  process.stderr.write(`The stores are kept: ${here.storeFile} ${there.storeFile}\n`);
else for (const place of [here, there]) place.remove();
