// Measures an import: `node scripts/bench-import.js [--megabytes 300 | --short 100000] [--keep DIR] [--json] [--check]`, after a build. A ChatGPT
// export is generated (with --short, of this many short conversations), read and parsed alone (the floor), read by an import that stores
// nothing, and imported. Then the store's own export is imported. A thread reads while another stores, so time needs two free cores;
// processor time depends least on the load of the machine.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeExport } from './bench-import/chatgpt-export.js';
import { environment, reportOptions } from './measure.js';
import { readOptions, text, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const { megabytes, short, keep, json, check } = readOptions({
  megabytes: wholeNumber(300),
  short: wholeNumber(),
  keep: text(),
  ...reportOptions,
});

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const parley = pathOf('../bin/parley.js');
const root = keep ?? temporaryDirectory();
mkdirSync(root, { recursive: true });
const report = measure();
process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
const beyond = report.cases.filter(({ value, min, max }) => value > max || value < min);
for (const { name, value } of beyond) process.stderr.write(`${name}: ${value} exceeds its limit.\n`);
if (check && beyond.length > 0) process.exitCode = 1;

function measure() {
  const { bavail, bsize } = statfsSync(root);
  if (bavail * bsize < (short === undefined ? megabytes * 4e6 : short * 20e3))
    throw new Error(`There is not enough space in ${root}.`);
  const file = join(root, 'conversations.json');
  const { bytes, conversations } = writeExport(
    file,
    short === undefined ? { bytes: megabytes * 1e6 } : { conversations: short, isShort: true },
  );
  const floor = run('floor', [pathOf('./bench-import/floor.js'), file]);
  const read = run('read', [parley, 'sessions', 'import', '--match', 'No title is like this', file]);
  const whole = run('whole', [parley, 'sessions', 'import', file]);
  const own = join(root, 'sessions.jsonl');
  run('whole', [parley, 'sessions', 'export', '--all', '--format', 'json'], own);
  const again = run('own', [parley, 'sessions', 'import', own]);
  const ratio = (one, other) => Math.round((one / other) * 100) / 100;
  const cases = (kind, field) => [
    { name: `reading, in floors of ${kind}`, value: ratio(read[field], floor[field]), max: 2.5 },
    {
      name: `importing, in floors of ${kind}`,
      value: ratio(whole[field], floor[field]),
      ...(field === 'seconds' && { max: 2.5 }),
    },
    {
      name: `rate, in rates of the store's own import, by ${kind}`,
      value: ratio(again[field], whole[field]),
      min: 0.5,
    },
  ];
  return {
    bytes,
    conversations,
    seconds: { floor, read, whole, own: again },
    cases: [
      ...cases('time', 'seconds'),
      ...cases('processor time', 'cpuSeconds'),
      { name: 'memory, in MB', value: Math.round(Math.max(read.megabytes, whole.megabytes)), max: 200 },
    ],
  };
}

/** Runs a process with the configuration of this name. Its output is discarded, or written to the file `output`. */
function run(home, words, output = '/dev/null') {
  const resources = join(root, `resources-${home}.json`);
  const out = openSync(output, 'w');
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--require', pathOf('./used-resources.cjs'), ...words],
    {
      env: { ...environment(join(root, home)), PARLEY_BENCH_RESOURCES: resources },
      encoding: 'utf8',
      stdio: ['ignore', out, 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  closeSync(out);
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${stderr.slice(-2000)}`);
  return JSON.parse(readFileSync(resources, 'utf8'));
}

function describe({ bytes, conversations, cases }) {
  const lines = cases.map(({ name, value, min, max }) => {
    const limit = max === undefined ? (min === undefined ? '' : `>= ${min}`) : `<= ${max}`;
    return `${name.padEnd(62)} ${String(value).padStart(8)}  ${limit}`;
  });
  return [`${bytes} bytes, ${conversations} conversations`, ...lines, ''].join('\n');
}
