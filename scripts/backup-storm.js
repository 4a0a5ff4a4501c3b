// Backups of a store that is written all the time: `node scripts/backup-storm.js [--rounds 100] [--writers 8] [--sessions 20000] [--json]
// [--check]`. `parley serve` takes sessions from many callers. Meanwhile backups are taken; every third one is killed (kill -9) at a random
// moment. Each backup that has its name must verify, and must hold the store as it was at one moment: a session that was answered before
// another one was asked for is in every backup that holds the other one. Every tenth one is restored and counted. `--check` fails where a
// backup breaks this, or where a write took longer than 100 ms because of a backup.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadedModules } from './bundled-modules.js';
import { describeMachine, environment, machine, quantile, run } from './measure.js';
import { serveParley } from './served-place.js';

const parley = fileURLToPath(new URL('../bin/parley.js', import.meta.url));
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    writers: { type: 'string', default: '8' },
    sessions: { type: 'string', default: '20000' },
    json: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
});
const [rounds, writers, sessions] = [options.rounds, options.writers, options.sessions].map(Number);
if (![rounds, writers, sessions].every((number) => Number.isInteger(number) && number > 0))
  throw new Error('--rounds, --writers and --sessions take positive whole numbers.');
/** The longest that a write may take because of a backup, ms. */
const mostMs = 100;

const home = mkdtempSync(join(tmpdir(), 'parley-backups-'));
const env = environment(home);
const children = [];
try {
  const report = await measure();
  process.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
  const isSlow = report.writes.during[2] > mostMs && report.writes.during[2] > 2 * report.writes.between[2];
  if (options.check && (report.faults.length > 0 || isSlow)) process.exitCode = 1;
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
}

async function measure() {
  const key = run([parley, 'keys', 'create', '--project', 'default'], {
    env,
    expect: (text) => text !== '',
  }).output.trim();
  const modules = await loadedModules(home, ['test/support/stored-sessions.ts']);
  modules.fillStore(join(home, 'data', 'parley.db'), sessions);
  const { url } = await serveParley(env, children);
  const agent = new Agent({ keepAlive: true });
  /** One a session: its id, when it was asked for and when it was answered, and how long that took, ms. */
  const written = [];
  let isOver = false;
  const writing = Array.from({ length: writers }, async () => {
    while (!isOver) {
      const asked = performance.now();
      const id = await createSession(url, agent, key);
      const answered = performance.now();
      written.push({ id, asked, answered, ms: answered - asked });
    }
  });
  await new Promise((resolve) => setTimeout(resolve, 3000));
  /** When backups were taken: from, to. */
  const spans = [];
  const counts = { whole: 0, killed: 0, killedLate: 0, restored: 0 };
  const faults = [];
  let usualMs = 500;
  for (let round = 0; round < rounds; round += 1) {
    const file = join(home, `backup-${round}`);
    const isKilled = round % 3 === 2;
    const start = performance.now();
    const child = spawn(process.execPath, [parley, 'store', 'backup', file], { env, stdio: 'ignore' });
    if (isKilled) setTimeout(() => child.kill('SIGKILL'), Math.random() * usualMs);
    await new Promise((resolve) => child.once('close', resolve));
    spans.push([start, performance.now()]);
    if (!isKilled) usualMs = performance.now() - start;
    if (!existsSync(file)) {
      if (isKilled) counts.killed += 1;
      else faults.push(`round ${round}: no backup`);
    } else {
      if (isKilled) counts.killedLate += 1;
      else counts.whole += 1;
      faults.push(...(await judge(file, round, written, start)));
      if (round % 10 === 0) {
        faults.push(...(await restore(file, round)));
        counts.restored += 1;
      }
    }
    for (const name of readdirSync(home).filter((one) => one.includes('backup-')))
      rmSync(join(home, name), { force: true });
  }
  isOver = true;
  await Promise.all(writing);
  agent.destroy();
  for (const child of children.splice(0)) child.kill('SIGKILL');
  const bare = Array.from({ length: 5 }, () => run(['-e', '0'], { env, expect: () => true }).milliseconds);
  const percentiles = (part) =>
    [0.5, 0.99, 1].map((at) =>
      quantile(
        part.map(({ ms }) => ms),
        at,
      ),
    );
  const isDuring = ({ asked, answered }) => spans.some(([from, to]) => asked < to && answered > from);
  return {
    machine: machine(home, bare),
    ...{ rounds, writers, sessions: sessions + written.length, counts, faults },
    writes: {
      between: percentiles(written.filter((one) => !isDuring(one))),
      during: percentiles(written.filter(isDuring)),
    },
  };
}

/** What is wrong with a backup that began at `start`. */
async function judge(file, round, written, start) {
  const verified = await outputOf(['store', 'verify', file, '--json'], env);
  if (!verified.includes('"success":true')) return [`round ${round}: ${verified}`];
  const held = new Set(
    Array.from(readFileSync(file, 'utf8').matchAll(/"session":\{"session_id":"([^"]+)"/g), ([, id]) => id),
  );
  let [firstMissing, lastHeld] = [Number.POSITIVE_INFINITY, 0];
  for (const { id, asked, answered } of written) {
    if (held.has(id)) lastHeld = Math.max(lastHeld, asked);
    else firstMissing = Math.min(firstMissing, answered);
  }
  if (firstMissing < start) return [`round ${round}: lacks a session that was answered before it began`];
  if (firstMissing < lastHeld) return [`round ${round}: is not of one moment`];
  return held.size < sessions ? [`round ${round}: holds ${held.size} sessions`] : [];
}

async function restore(file, round) {
  const place = { ...env, PARLEY_DATA_DIR: join(home, `restored-${round}`) };
  const output = await outputOf(['store', 'restore', file, '--json'], place);
  rmSync(place.PARLEY_DATA_DIR, { recursive: true, force: true });
  return output.includes('"success":true') ? [] : [`round ${round}: not restored: ${output}`];
}

/** What a command prints, whatever its exit status is. The writers go on meanwhile. */
function outputOf(words, env) {
  return new Promise((resolve) => {
    execFile(process.execPath, [parley, ...words], { env }, (_error, stdout, stderr) =>
      resolve(stdout || stderr),
    );
  });
}

function createSession(url, agent, apiKey) {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
    const asking = request(`${url}/v1/sessions`, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', reject);
      response.on('data', (part) => {
        text += part;
      });
      response.on('end', () => {
        if (response.statusCode < 300) resolve(JSON.parse(text).data.session_id);
        else reject(new Error(text));
      });
    });
    asking.on('error', reject);
    asking.end('{}');
  });
}

function describe({ machine, rounds, writers, sessions, counts, faults, writes }) {
  const row = (name, figures) =>
    `${name.padEnd(34)}${figures.map((figure) => figure.toFixed(2).padStart(11)).join('')}`;
  const lines = [
    ...describeMachine(machine, rounds),
    `${counts.whole} backups, ${counts.killed} killed without a file, ${counts.killedLate} killed behind it, ${counts.restored} restored; ${sessions} sessions at the end`,
    `${faults.length} faults`,
    ...faults.slice(0, 10),
    '',
    `POST of a session, ${writers} callers, ms       median       99 %    longest`,
    row('between backups', writes.between),
    row('while backups are taken', writes.during),
  ];
  return `${lines.join('\n')}\n`;
}
