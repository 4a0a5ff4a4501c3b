// Measures the rate of `chat --batch` against that of the server: `node scripts/bench-batch.js [--rounds N] [--lines N] [--concurrency N]
// [--json] [--check]`. It sends 10,000 lines in `echo` to `parley serve` over loopback, and the same requests with autocannon, over as many
// connections: POST /v1/chat with a message, an Idempotency-Key of its own, and JSON as the response. (`no keys` is autocannon without keys,
// for which the server stores only the turn.) The time of the batch is that of the whole process: start, input, output. The cases alternate
// within a round, so that a busy machine slows all of them. `--check` fails below the limit.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { describeMachine, environment, machine, quantile, reportOptions, run } from './measure.js';
import { readOptions, wholeNumber } from './script-options.js';
import { createKey, serveParley } from './served-place.js';
import { temporaryDirectory } from './temporary-directory.js';

const parley = fileURLToPath(new URL('../bin/parley.js', import.meta.url));
const { rounds, lines, concurrency, json, check } = readOptions({
  rounds: wholeNumber(7),
  lines: wholeNumber(10_000),
  concurrency: wholeNumber(16),
  ...reportOptions,
});
const limit = 0.7;

const home = temporaryDirectory();
const env = environment(home);
const children = [];
try {
  const report = await measure();
  process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
  if (check && report.ofSame.median < limit) process.exitCode = 1;
} finally {
  for (const child of children) child.kill('SIGKILL');
}

async function measure() {
  const key = createKey(env);
  const { url } = await serveParley(env, children);
  const place = { url, key };
  const input = join(home, 'input');
  writeFileSync(input, Array.from({ length: lines }, (_, index) => `${messageOf(index)}\n`).join(''));
  const samples = { same: [], plain: [], batch: [], memory: [], ofSame: [], ofPlain: [] };
  const starts = [];
  // The first round only warms the server up.
  for (let round = -1; round < rounds; round += 1) {
    const same = await cannon(place, `${round}`);
    const { rate, megabytes } = await batch(place, input);
    const plain = await cannon(place, null);
    if (round < 0) continue;
    starts.push(run(['-e', '0'], { env, expect: (text) => text === '' }).milliseconds);
    samples.same.push(same);
    samples.plain.push(plain);
    samples.batch.push(rate);
    samples.memory.push(megabytes);
    samples.ofSame.push(rate / same);
    samples.ofPlain.push(rate / plain);
  }
  const figures = Object.fromEntries(Object.entries(samples).map(([name, list]) => [name, halves(list)]));
  return { machine: machine(home, starts), rounds, lines, concurrency, limit, ...figures };
}

function halves(list) {
  return { median: quantile(list, 0.5), quarter: quantile(list, 0.25), threeQuarters: quantile(list, 0.75) };
}

function messageOf(index) {
  return `Line ${index} of the batch`;
}

/** Responses per second. `name`: the name of the round, for unused keys; null for no keys. */
async function cannon({ url, key }, name) {
  let count = 0;
  const headers = {
    authorization: `Bearer ${key}`,
    accept: 'application/json',
    'content-type': 'application/json',
  };
  const setupRequest = (request) => {
    count += 1;
    return {
      ...request,
      headers: {
        ...headers,
        ...(name !== null && {
          'idempotency-key': `bench-${name}.${String(count).padStart(10, '0')}.autocannon`,
        }),
      },
      body: JSON.stringify({ mode: 'echo', message: messageOf(count) }),
    };
  };
  const load = autocannon({
    url: `${url}/v1/chat`,
    connections: concurrency,
    amount: lines,
    requests: [{ method: 'POST', setupRequest }],
  });
  // autocannon's own report rounds the end to seconds.
  const start = performance.now();
  let last = start;
  load.on('response', () => {
    last = performance.now();
  });
  const result = await load;
  if (result['2xx'] !== lines) throw new Error(`autocannon: ${result['2xx']} of ${lines} were answered.`);
  return (lines * 1000) / (last - start);
}

/** Responses per second, including the start and the end of the process, and its peak memory. */
async function batch({ url, key }, input) {
  const output = join(home, 'output');
  const stdio = [openSync(input), openSync(output, 'w'), 'pipe'];
  const words = [parley, 'chat', '--batch', '--mode', 'echo', '--concurrency', String(concurrency)];
  const start = performance.now();
  const child = spawn(process.execPath, words, {
    env: { ...env, PARLEY_URL: url, PARLEY_API_KEY: key },
    stdio,
  });
  let megabytes = 0;
  const watch = setInterval(() => {
    megabytes = Math.max(megabytes, residentMegabytes(child.pid));
  }, 100);
  let talk = '';
  child.stderr.on('data', (text) => {
    talk += text;
  });
  const [status] = await once(child, 'close');
  const rate = (lines * 1000) / (performance.now() - start);
  clearInterval(watch);
  for (const fd of stdio.slice(0, 2)) closeSync(fd);
  const results = readFileSync(output, 'utf8').trimEnd().split('\n');
  const isWhole =
    results.length === lines &&
    results.every((text, index) => JSON.parse(text).data.reply === messageOf(index));
  if (status !== 0 || !isWhole)
    throw new Error(`The batch ended with ${status}, ${results.length} results: ${talk}`);
  return { rate, megabytes };
}

function residentMegabytes(pid) {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function describe(report) {
  const row = (name, { median, quarter, threeQuarters }, digits, note = '') =>
    `${name.padEnd(34)} ${median.toFixed(digits).padStart(8)}   ${quarter.toFixed(digits)}-${threeQuarters.toFixed(digits)}${note}`;
  return `${[
    ...describeMachine(report.machine, report.rounds),
    `${report.lines} lines, ${report.concurrency} at a time; medians, middle halves`,
    row('autocannon, the same requests, /s', report.same, 0),
    row('autocannon, no keys, /s', report.plain, 0),
    row('chat --batch, /s', report.batch, 0),
    row('chat --batch, most memory, MB', report.memory, 0),
    row('chat --batch, of the same requests', report.ofSame, 2, `   limit >= ${report.limit}`),
    row('chat --batch, of those without keys', report.ofPlain, 2),
  ].join('\n')}\n`;
}
