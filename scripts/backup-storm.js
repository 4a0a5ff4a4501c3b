// Takes backups of a store under constant writes: `node scripts/backup-storm.js [--postgres] [--rounds 100] [--writers 8] [--sessions 20000]
// [--flips 10000] [--json] [--check]`. `parley serve` gets sessions from many clients. Meanwhile backups are taken; every third one is killed
// (kill -9) at a random moment. Each backup that has its final name must verify, and must show the store at one moment: if it contains a
// session, it contains every session whose response came before that session was requested. Each backup is restored, and a backup of the
// restored store must contain the same sessions. Writers pause during a restoration, and ten rounds share a store, so that its size stays
// similar. Then random bits of a backup are flipped, one at a time: each flip must be detected. `--check` fails if a backup violates this, or
// if a backup delayed a write by more than 100 ms. `--postgres`: uses a temporary PostgreSQL server that syncs every commit.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase, storeIn } from './bench-postgres/database.js';
import { loadedModules } from './bundled-modules.js';
import { describeMachine, environment, machine, quantile, reportOptions, run } from './measure.js';
import { flag, readOptions, wholeNumber } from './script-options.js';
import { createKey, serveParley } from './served-place.js';
import { temporaryDirectory } from './temporary-directory.js';

const parley = fileURLToPath(new URL('../bin/parley.js', import.meta.url));
const { postgres, rounds, writers, sessions, flips, json, check } = readOptions({
  postgres: flag,
  rounds: wholeNumber(100, { from: 0 }),
  writers: wholeNumber(8),
  sessions: wholeNumber(20_000),
  flips: wholeNumber(10_000, { from: 0 }),
  ...reportOptions,
});
/** The longest delay of a write by a backup, in ms. */
const maxMs = 100;
const roundsOfStore = 10;
/** How long (ms) writes are measured before each backup. */
const betweenMs = 300;
/** Bits are flipped in a small backup, because each flip reads the whole file. */
const sessionsOfFlips = 50;

const home = temporaryDirectory();
const children = [];
const modules = await loadedModules(home, [
  'src/local/backup-reading.ts',
  'test/support/postgres-server.ts',
  'test/support/stored-sessions.ts',
]);
const database = postgres ? await openDatabase(undefined, modules.startPostgres) : null;
const counts = { whole: 0, killed: 0, killedLate: 0, sessions: 0, refusedFlips: 0 };
const faults = [];
/** Milliseconds of writes. */
const writes = { between: [], during: [] };
try {
  for (let first = 0; first < rounds; first += roundsOfStore)
    await storm(first, Math.min(first + roundsOfStore, rounds));
  if (flips > 0) await flipBits();
  const report = reported();
  process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
  const isSlow = report.writes.during[2] > maxMs && report.writes.during[2] > 2 * report.writes.between[2];
  if (check && (faults.length > 0 || isSlow)) process.exitCode = 1;
} finally {
  for (const child of children) child.kill('SIGKILL');
  await database?.close();
}

/** The environment of a store with this many sessions, and a key for it. */
async function newStore(name, count) {
  const own = environment(join(home, name));
  const key = createKey(own, 'default');
  modules.fillStore(join(own.PARLEY_DATA_DIR, 'parley.db'), count);
  if (database === null) return { env: own, key };
  const env = { ...own, PARLEY_STORE: storeIn(database, name) };
  run([parley, 'store', 'copy', '--from', own.PARLEY_DATA_DIR, '--to', env.PARLEY_STORE], {
    env: own,
    expect: () => true,
  });
  return { env, key: createKey(env, 'default') };
}

async function removeStore(name) {
  rmSync(join(home, name), { recursive: true, force: true });
  await database?.rows(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
}

async function storm(firstRound, endRound) {
  const { env, key } = await newStore(`store_${firstRound}`, sessions);
  const { url } = await serveParley(env, children);
  /** One entry per session: its id, the times of the request and of the response, and the duration in ms. */
  const written = [];
  /** Writers continue until this is called. */
  const writing = () => {
    let isOver = false;
    // The server closes connections that are idle between two rounds.
    const agent = new Agent({ keepAlive: true });
    const all = Array.from({ length: writers }, async () => {
      while (!isOver) {
        const requestedAt = performance.now();
        const id = await createSession(url, agent, key);
        const answeredAt = performance.now();
        written.push({ id, requestedAt, answeredAt, ms: answeredAt - requestedAt });
      }
    });
    return async () => {
      isOver = true;
      await Promise.all(all);
      agent.destroy();
    };
  };
  const spans = [];
  let defaultMs = 500;
  for (let round = firstRound; round < endRound; round += 1) {
    const stop = writing();
    await pause(betweenMs);
    const file = join(home, `backup-${round}`);
    const isKilled = round % 3 === 2;
    const start = performance.now();
    const child = spawn(process.execPath, [parley, 'store', 'backup', file], { env, stdio: 'ignore' });
    if (isKilled) setTimeout(() => child.kill('SIGKILL'), Math.random() * defaultMs);
    await new Promise((resolve) => child.once('close', resolve));
    spans.push([start, performance.now()]);
    if (!isKilled) defaultMs = performance.now() - start;
    await stop();
    if (existsSync(file)) {
      counts[isKilled ? 'killedLate' : 'whole'] += 1;
      faults.push(...(await judge(file, round, written, start)), ...(await restore(file, round)));
    } else if (isKilled) counts.killed += 1;
    else faults.push(`round ${round}: no backup`);
    for (const name of readdirSync(home).filter((one) => one.includes('backup-')))
      rmSync(join(home, name), { force: true });
  }
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await removeStore(`store_${firstRound}`);
  const isDuring = ({ requestedAt, answeredAt }) =>
    spans.some(([from, to]) => requestedAt < to && answeredAt > from);
  for (const one of written) writes[isDuring(one) ? 'during' : 'between'].push(one.ms);
  counts.sessions += written.length;
}

/** The faults of a backup that began at `start`. */
async function judge(file, round, written, start) {
  const verified = await parleyOutput(['store', 'verify', file, '--json'], environment(home));
  if (!verified.includes('"success":true')) return [`round ${round}: ${verified}`];
  const held = new Set(
    Array.from(readFileSync(file, 'utf8').matchAll(/"session":\{"session_id":"([^"]+)"/g), ([, id]) => id),
  );
  let [firstMissing, lastHeld] = [Number.POSITIVE_INFINITY, 0];
  for (const { id, requestedAt, answeredAt } of written) {
    if (held.has(id)) lastHeld = Math.max(lastHeld, requestedAt);
    else firstMissing = Math.min(firstMissing, answeredAt);
  }
  if (firstMissing < start) return [`round ${round}: lacks a session that was answered before it began`];
  if (firstMissing < lastHeld) return [`round ${round}: is not of one moment`];
  return held.size < sessions ? [`round ${round}: holds ${held.size} sessions`] : [];
}

/** A backup of the restored store contains the same sessions and stored answers. */
async function restore(file, round) {
  const name = `restored_${round}`;
  const own = environment(join(home, name));
  const env = database === null ? own : { ...own, PARLEY_STORE: storeIn(database, name) };
  const output = await parleyOutput(['store', 'restore', file, '--json'], env);
  const again = join(home, `again-backup-${round}`);
  await parleyOutput(['store', 'backup', again], env);
  const isSame = existsSync(again) && hashOf(again) === hashOf(file);
  await removeStore(name);
  if (!output.includes('"success":true')) return [`round ${round}: not restored: ${output}`];
  return isSame ? [] : [`round ${round}: what was restored is not what was backed up`];
}

/** The hash of the lines of sessions and projects, independent of their order. */
function hashOf(file) {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^\{"kind":"(project|session)"/.test(line));
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
}

/** Flips random bits of a real backup, each in a fresh copy; ten of them also in the file that the command reads. */
async function flipBits() {
  const { env, key } = await newStore('flipped', sessionsOfFlips);
  const say = (text) =>
    run([parley, 'chat', '-n', '-m', 'echo', text], {
      env: { ...env, PARLEY_API_KEY: key },
      expect: () => true,
    });
  for (let turn = 0; turn < 5; turn += 1) say(`turn ${turn} of Größe 🙂`);
  const file = join(home, 'whole');
  await parleyOutput(['store', 'backup', file, '--with-keys'], env);
  const whole = readFileSync(file);
  const failureOf = async (bytes) => {
    const chunks = (async function* () {
      yield bytes;
    })();
    try {
      await modules.readBackup(chunks, 'flipped', () => {});
      return null;
    } catch (error) {
      return error.code;
    }
  };
  if ((await failureOf(whole)) !== null) faults.push('a backup that was not changed is refused');
  for (let flip = 0; flip < flips; flip += 1) {
    const bit = Math.floor(Math.random() * whole.length * 8);
    const changed = Buffer.from(whole);
    changed[bit >> 3] ^= 1 << (bit & 7);
    const code = await failureOf(changed);
    const isRefused = code === 'STORE_DAMAGED' || code === 'STORE_NEWER';
    if (isRefused) counts.refusedFlips += 1;
    else faults.push(`bit ${bit} of ${whole.length * 8}: ${code}`);
    if (flip >= 10) continue;
    writeFileSync(file, changed);
    for (const command of ['verify', 'restore']) {
      const place = { ...environment(join(home, `flip-${flip}`)), PARLEY_STORE: '' };
      const output = await parleyOutput(['store', command, file, '--json'], place);
      if (!output.includes('"success":false'))
        faults.push(`${command} took a backup with bit ${bit} flipped`);
    }
  }
  await removeStore('flipped');
}

/** The output of a command, whatever its exit status. */
function parleyOutput(words, env) {
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

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function reported() {
  const bare = Array.from(
    { length: 5 },
    () => run(['-e', '0'], { env: environment(home), expect: () => true }).milliseconds,
  );
  const percentiles = (part) =>
    part.length === 0 ? [0, 0, 0] : [0.5, 0.99, 1].map((at) => quantile(part, at));
  return {
    machine: machine(home, bare),
    ...{ rounds, writers, flips, counts, faults },
    writes: { between: percentiles(writes.between), during: percentiles(writes.during) },
    slow: writes.during.filter((ms) => ms > maxMs).length,
  };
}

function describe({ machine, rounds, writers, flips, counts, faults, writes, slow }) {
  const row = (name, figures) =>
    `${name.padEnd(34)}${figures.map((figure) => figure.toFixed(2).padStart(11)).join('')}`;
  const lines = [
    ...describeMachine(machine, rounds),
    `${counts.whole} backups, ${counts.killed} killed without a file, ${counts.killedLate} killed after their file appeared; each restored; ${counts.sessions} sessions written`,
    `${counts.refusedFlips} of ${flips} flipped bits detected`,
    `${faults.length} faults`,
    ...faults.slice(0, 10),
    '',
    `POST of a session, ${writers} callers, ms       median       99 %    longest`,
    row('between backups', writes.between),
    row('while backups are taken', writes.during),
    `${slow} writes took longer than ${maxMs} ms`,
  ];
  return `${lines.join('\n')}\n`;
}
