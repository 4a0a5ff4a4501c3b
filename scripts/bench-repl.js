// Measures how soon the REPL accepts input, as a ratio to bare node in the same pseudo-terminal: `node scripts/bench-repl.js [--rounds N]
// [--json] [--check]`. `prompt`: until the prompt is shown. `first key`: until a key that is typed at the prompt is shown. The cases
// alternate within a round. The store exists before each start.
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import {
  describeRatios,
  environment,
  machine,
  printReport,
  quantile,
  reportOptions,
  run,
} from './measure.js';
import { readOptions, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const parley = fileURLToPath(new URL('../bin/parley.js', import.meta.url));
const { rounds, json, check } = readOptions({ rounds: wholeNumber(30), ...reportOptions });
const limit = 2;

const home = temporaryDirectory();
const env = { ...environment(home), TERM: 'xterm-256color', NO_COLOR: '1' };
run([parley, 'models'], { env, expect: (output) => output.includes('eliza') });
const report = await measure();
printReport(report, { json, check, describe: (report) => describeRatios(report, rounds) });

async function measure() {
  const bare = [];
  const times = { prompt: [], 'first key': [] };
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await bareNode());
    const start = await startRepl();
    times.prompt.push(start.prompt);
    times['first key'].push(start.key);
  }
  const cases = Object.entries(times).map(([name, milliseconds]) => {
    const ratios = milliseconds.map((time, index) => time / bare[index]);
    return {
      name: `parley repl, ${name}`,
      median: quantile(ratios, 0.5),
      quarter: quantile(ratios, 0.25),
      threeQuarters: quantile(ratios, 0.75),
      milliseconds: quantile(milliseconds, 0.5),
      limit,
    };
  });
  return { machine: machine(home, bare), rounds, cases };
}

function open(words) {
  const start = performance.now();
  const terminal = spawn(process.execPath, words, { cols: 80, rows: 24, cwd: home, env });
  return { terminal, since: () => performance.now() - start };
}

function bareNode() {
  const { terminal, since } = open(['-e', '0']);
  return new Promise((resolve) => terminal.onExit(() => resolve(since())));
}

function startRepl() {
  const { terminal, since } = open([parley, 'repl']);
  return new Promise((resolve, reject) => {
    let shown = '';
    let prompt = null;
    let key = null;
    terminal.onData((text) => {
      shown += text;
      if (prompt === null && shown.includes('> ')) {
        prompt = since();
        terminal.write('q');
      } else if (prompt !== null && key === null && shown.includes('q')) {
        key = since();
        terminal.write('\x15\x04');
      }
    });
    terminal.onExit(({ exitCode }) => {
      if (exitCode === 0 && key !== null) resolve({ prompt, key });
      else reject(new Error(`parley repl ended with ${exitCode}: ${JSON.stringify(shown)}`));
    });
  });
}
