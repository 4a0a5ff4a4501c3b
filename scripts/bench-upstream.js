// Measures what a model behind a mode costs beyond its own time: `node scripts/bench-upstream.js [--rounds N] [--json] [--check]`. The model is
// a server on this machine that never waits. Cases alternate within a round; `--check` fails if a case exceeds its limit.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import {
  describeMachine,
  environment,
  machine,
  printReport,
  quantile,
  reportOptions,
  run,
} from './measure.js';
import { readOptions, wholeNumber } from './script-options.js';
import { createKey, forkedScript, serveParley } from './served-place.js';
import { temporaryDirectory } from './temporary-directory.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const parley = join(root, 'bin', 'parley.js');
const bareScript = join(root, 'scripts', 'bench-upstream', 'bare-request.cjs');
const { rounds, json, check } = readOptions({ rounds: wholeNumber(20), ...reportOptions });
const manyTokens = 100_000;
const relayedTokens = 500_000;
const legsOfTokens = 3;

const home = temporaryDirectory();
const env = environment(home);
const children = [];
try {
  const report = await measure();
  printReport(report, { json, check, describe });
} finally {
  for (const child of children) child.kill('SIGKILL');
}

async function measure() {
  const { first } = await forkedScript('bench-upstream/model-server.js', [], { env, children });
  const { url } = first;
  for (const tokens of ['20', `${manyTokens}`, `${manyTokens}-apart`, `${relayedTokens}`]) {
    run([parley, 'modes', 'add', `m${tokens}`, '--base-url', url, '--model', tokens], {
      env,
      expect: () => true,
    });
  }
  const short = newSession(10);
  const long = newSession(10_000);

  const oneShot = { name: 'one-shot chat of 20 tokens, to bare node', unit: 'x', max: 2.2, values: [] };
  // Without a limit: it shows the share of Node's own client.
  const bareRequest = { name: 'the same request with node:http, to bare node', unit: 'x', values: [] };
  const longSession = {
    name: 'chat in a session of 10,000 messages, to one of 10',
    unit: 'x',
    max: 1.5,
    values: [],
  };
  const bare = [];
  for (let round = 0; round < rounds; round += 1) {
    const floor = run(['-e', '0'], { env, expect: () => true }).milliseconds;
    bare.push(floor);
    oneShot.values.push(chat('m20').milliseconds / floor);
    bareRequest.values.push(run([bareScript, url, '20'], { env, expect: isWhole }).milliseconds / floor);
    // Both grow by the same messages, so their difference stays the same.
    const inShort = chat('m20', '-s', short).milliseconds;
    longSession.values.push(chat('m20', '-s', long).milliseconds / inShort);
  }
  const relay = { name: 'relay through serve, one core', unit: '/s', min: 100_000, values: [] };
  const together = {
    name: 'work per token, socket to pipe, all together',
    unit: 'us',
    max: 20,
    values: [],
  };
  const apart = { name: 'work per token, socket to pipe, one by one', unit: 'us', max: 20, values: [] };
  const served = await serve();
  for (let leg = 0; leg < legsOfTokens; leg += 1) {
    relay.values.push(await relayed(served));
    const floor = processorSeconds('m20');
    together.values.push(((processorSeconds(`m${manyTokens}`) - floor) * 1e6) / manyTokens);
    apart.values.push(((processorSeconds(`m${manyTokens}-apart`) - floor) * 1e6) / manyTokens);
  }
  const cases = [oneShot, bareRequest, longSession, relay, together, apart];
  return {
    machine: machine(home, bare),
    cases: cases.map(({ values, ...row }) => ({
      ...row,
      median: quantile(values, 0.5),
      quarter: quantile(values, 0.25),
      threeQuarters: quantile(values, 0.75),
    })),
  };
}

function chat(mode, ...words) {
  return run([parley, 'chat', '-n', '-m', mode, ...words, 'hi'], { env, expect: isWhole });
}

function isWhole(output) {
  return output.split(' token').length === 21;
}

/** A session with this many short messages. */
function newSession(count) {
  const id = run([parley, 'sessions', 'create'], { env, expect: (output) => output !== '' }).output.trim();
  const database = new Database(join(home, 'data', 'parley.db'));
  const session = database.prepare('SELECT id FROM sessions WHERE session_id = ?').pluck().get(id);
  const insert = database.prepare(
    `INSERT INTO messages (session, position, message_id, role, mode, finish_reason, created_at, content)
     VALUES (?, ?, ?, ?, 'm20', ?, 0, 'a few words that somebody says')`,
  );
  database.transaction(() => {
    for (let at = 0; at < count; at += 1) {
      insert.run(session, at, `msg_${session}_${at}`, at % 2 ? 'assistant' : 'user', at % 2 ? 'stop' : null);
    }
    database.prepare('UPDATE sessions SET message_count = ? WHERE id = ?').run(count, session);
  })();
  database.close();
  return id;
}

/** User and system time of one chat, without that of the model's server. */
function processorSeconds(mode) {
  const script = `TIMEFORMAT='%U %S'; time "$@" >/dev/null`;
  const words = [process.execPath, parley, 'chat', '-n', '-m', mode, 'hi'];
  const { status, stderr } = spawnSync('bash', ['-c', script, 'bash', ...words], { env, encoding: 'utf8' });
  const [, user, system] = /(\d+\.\d+) (\d+\.\d+)\s*$/.exec(stderr) ?? [];
  if (status !== 0 || user === undefined) throw new Error(stderr);
  return Number(user) + Number(system);
}

async function serve() {
  const key = createKey(env);
  return { ...(await serveParley(env, children)), key };
}

/** The tokens that the server relays per second of its processor time. */
async function relayed({ url, key, pid }) {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'text/event-stream',
  };
  const start = processorTime(pid);
  const tail = await new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/chat`, { method: 'POST', headers, agent: false }, (answer) => {
      let last = '';
      answer.setEncoding('latin1');
      answer.on('data', (text) => {
        last = (last + text).slice(-200);
      });
      answer.on('end', () => resolve(last));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ mode: `m${relayedTokens}`, message: 'hi' }));
  });
  if (!tail.includes('"finish_reason":"stop"')) throw new Error(`The reply is incomplete: ${tail}`);
  return relayedTokens / (processorTime(pid) - start);
}

/** User and system time of a running process in seconds: fields 14 and 15 of proc_pid_stat(5), in hundredths. */
function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function describe(report) {
  const lines = [
    ...describeMachine(report.machine, rounds),
    `${'case'.padEnd(52)}      median  middle half           limit`,
  ];
  for (const row of report.cases) {
    const shown = (value) => (row.unit === '/s' ? Math.round(value).toString() : value.toFixed(2));
    const half = `${shown(row.quarter)}-${shown(row.threeQuarters)}`;
    lines.push(
      `${row.name.padEnd(52)}  ${(shown(row.median) + row.unit).padStart(10)}  ${half.padEnd(20)}  ${row.min ?? row.max ?? '-'}`,
    );
  }
  return `${lines.join('\n')}\n`;
}
