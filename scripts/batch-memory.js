// Measures the memory of a long `chat --batch`: `node scripts/batch-memory.js [--lines 1000000] [--concurrency 16] [--json] [--check]`. The
// lines come from a pipe that stays open until the last one is sent. Each result is checked when it arrives, and nothing is stored.
// `--check` fails if the second half takes more memory than the first.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { environment, reportOptions, run } from './measure.js';
import { readOptions, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const parley = fileURLToPath(new URL('../bin/parley.js', import.meta.url));
const { lines, concurrency, json, check } = readOptions({
  lines: wholeNumber(1_000_000, { from: 10 }),
  concurrency: wholeNumber(16),
  ...reportOptions,
});
/** The interval of memory samples. */
const looks = 100;
/** The tolerance for garbage that is not collected yet, in MB. */
const slack = 24;

const home = temporaryDirectory();
const env = environment(home);
run([parley, 'models'], { env, expect: (output) => output.includes('echo') });
const report = await measure();
process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
if (check && !report.isFlat) process.exitCode = 1;

async function measure() {
  const words = [parley, 'chat', '--batch', '--mode', 'echo', '--concurrency', String(concurrency)];
  const start = performance.now();
  const child = spawn(process.execPath, words, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let talk = '';
  child.stderr.on('data', (text) => {
    talk += text;
  });
  const fed = feed(child.stdin);
  const every = Math.ceil(lines / looks);
  const seen = [];
  let received = 0;
  for await (const text of createInterface({ input: child.stdout })) {
    received += 1;
    const { id, success, data } = JSON.parse(text);
    if (id !== received || !success || data.reply !== messageOf(received))
      throw new Error(`Result ${received} is wrong: ${text}`);
    const megabytes = received % every === 0 ? residentMegabytes(child.pid) : null;
    if (megabytes !== null) seen.push({ lines: received, megabytes });
  }
  await fed;
  const [status] = await ended;
  if (status !== 0 || received !== lines)
    throw new Error(`The batch ended with ${status} after ${received}: ${talk}`);
  const seconds = Math.round(performance.now() - start) / 1000;
  const peak = (from, to) => Math.max(...within(seen, from, to).map(({ megabytes }) => megabytes));
  const halves = [peak(0, 0.5), peak(0.5, 1)];
  return {
    ...{ lines, concurrency, seconds, perSecond: Math.round(lines / seconds) },
    // At the last result, the process may already have ended.
    at: [0.1, 0.5, 1].map((part) => within(seen, 0, part).at(-1)),
    halves,
    isFlat: halves[1] <= halves[0] + slack,
  };
}

function within(seen, from, to) {
  return seen.filter(({ lines: count }) => count > from * lines && count <= to * lines);
}

/** Null for a process that has ended. */
function residentMegabytes(pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return kilobytes === undefined ? null : Math.round(Number(kilobytes) / 1024);
}

async function feed(stdin) {
  for (let number = 1; number <= lines; number += 1)
    if (!stdin.write(`${messageOf(number)}\n`)) await once(stdin, 'drain');
  stdin.end();
}

function messageOf(number) {
  return `Line ${number} of the batch`;
}

function describe({ at, halves, seconds, perSecond, isFlat }) {
  return `${[
    `${lines} lines answered in ${seconds} s, ${perSecond} per second, ${concurrency} at a time`,
    ...at.map(
      ({ lines: count, megabytes }) => `after ${String(count).padStart(8)}: ${megabytes} MB resident`,
    ),
    `peak: first half ${halves[0]} MB, second ${halves[1]} MB: ${isFlat ? 'flat' : 'growing'}`,
  ].join('\n')}\n`;
}
