// Checks the single executable of this machine, which `npm run build:executable` has built: `node scripts/check-executable.js`, after `npm run
// build`. It must pass the acceptance tests, and start within 1.1 of the time of the same program under the Node that it contains.
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildWithBase } from './executable-base.js';
import { temporaryDirectory } from './temporary-directory.js';

const maxRatio = 1.1;
const rounds = 30;
const root = fileURLToPath(new URL('..', import.meta.url));
const executable = join(root, 'executables', 'parley');
const home = temporaryDirectory();

const { node, checkout } = buildWithBase(home);
const program = [node, join(checkout, 'bin', 'parley.js')];
for (const words of [['--version'], ['chat', '-n', '--quiet', '-m', 'echo', 'Hello']]) {
  const ratio = startRatio(words);
  process.stdout.write(`parley ${words[0]}: ${ratio.toFixed(2)} of the time under Node\n`);
  if (ratio > maxRatio) fail(`The executable starts later than ${maxRatio} of the time under Node.`);
}
const tests = spawnSync(
  process.execPath,
  [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', 'test/acceptance'],
  {
    cwd: root,
    env: { ...process.env, PARLEY_TEST_PROGRAM: executable },
    stdio: 'inherit',
  },
);
if (tests.status !== 0) fail('The executable does not pass the acceptance tests.');

/** The median of the ratios of pairs, in alternating order. */
function startRatio(words) {
  const ratios = [];
  for (let round = 0; round < rounds + 2; round += 1) {
    const both = [() => timeOf([executable], words, 'own'), () => timeOf(program, words, 'node')];
    const times =
      round % 2 === 0
        ? both.map((time) => time())
        : both
            .toReversed()
            .map((time) => time())
            .toReversed();
    // The first rounds create the stores.
    if (round > 1) ratios.push(times[0] / times[1]);
  }
  return ratios.toSorted((one, other) => one - other)[Math.floor(ratios.length / 2)];
}

function timeOf([command, ...first], words, place) {
  const env = {
    PATH: process.env.PATH,
    PARLEY_CONFIG_DIR: join(home, place, 'config'),
    PARLEY_DATA_DIR: join(home, place, 'data'),
  };
  const start = process.hrtime.bigint();
  execFileSync(command, [...first, ...words], { env, stdio: 'ignore' });
  return Number(process.hrtime.bigint() - start);
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
