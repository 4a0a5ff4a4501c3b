// Measures the time of parley, as a ratio to bare node in the same round: `npm run bench -- [--rounds N] [--json] [--check]`.
// The cases alternate within a round, so that a busy machine slows both sides. `--check` fails if a case exceeds its limit.
// NODE_EXTRA_CA_CERTS, which adds 50 ms to every start of node, is unset for both sides.
import { closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  describeRatios,
  environment,
  filledPipe,
  machine,
  printReport,
  quantile,
  reportOptions,
  run as runIn,
} from './measure.js';
import { readOptions, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const parley = join(root, 'bin', 'parley.js');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { rounds, json, check } = readOptions({ rounds: wholeNumber(40), ...reportOptions });

const home = temporaryDirectory();
const env = environment(home);
const run = (words, expect, stdin) => runIn(words, { env, expect, stdin });
const report = measure();
printReport(report, { json, check, describe: (report) => describeRatios(report, rounds) });

function measure() {
  const chat = ['chat', '--mode', 'echo', 'hi', '-n'];
  run([parley, ...chat], (output) => output === 'hi\n');
  const id = run([parley, 'sessions', 'create'], (output) => output.trim() !== '').output.trim();
  const isHi = (output) => output === 'hi\n';
  // Another session, so that `-s` names one that is not the last.
  const echoed = run(
    [parley, ...chat, '--json', '--jq', '.data.session_id'],
    (output) => output !== '',
  ).output;
  run([parley, ...chat], isHi);
  const cases = [
    {
      name: 'printf hi | chat -m echo',
      words: ['chat', '-m', 'echo'],
      piped: 'hi',
      limit: 1.8,
      expect: (output) => output === 'hi\n',
    },
    { name: '--version', words: ['--version'], limit: 1.4, expect: (output) => output.includes(version) },
    { name: '--help', words: ['--help'], limit: null, expect: (output) => output.includes('sessions') },
    { name: chat.join(' '), words: chat, limit: 1.8, expect: isHi },
    { name: 'chat -c hi -n', words: ['chat', '-c', 'hi', '-n'], limit: 1.8, expect: isHi },
    { name: 'chat -s ID hi -n', words: ['chat', '-s', echoed.trim(), 'hi', '-n'], limit: 1.8, expect: isHi },
    {
      name: 'sessions get ID',
      words: ['sessions', 'get', id],
      limit: null,
      expect: (output) => output.includes(id),
    },
  ];
  const bare = [];
  const ratios = cases.map(() => []);
  const times = cases.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    const floor = run(['-e', '0'], (output) => output === '').milliseconds;
    bare.push(floor);
    for (const [index, row] of cases.entries()) {
      const stdin = row.piped && filledPipe(home, row.piped);
      const { milliseconds } = run([parley, ...row.words], row.expect, stdin);
      if (stdin !== undefined) closeSync(stdin);
      times[index].push(milliseconds);
      ratios[index].push(milliseconds / floor);
    }
  }
  return {
    machine: machine(home, bare),
    rounds,
    cases: cases.map((row, index) => ({
      name: row.name,
      median: quantile(ratios[index], 0.5),
      quarter: quantile(ratios[index], 0.25),
      threeQuarters: quantile(ratios[index], 0.75),
      milliseconds: quantile(times[index], 0.5),
      limit: row.limit,
    })),
  };
}
