// Measures the deletion of many sessions against other ways to delete them:
// `node scripts/bench-deletes.js [--ids N] [--memory-ids N] [--single-ids N] [--curl-ids N] [--rounds N] [--json] [--check]`.
// Each round starts with all sessions active; the ways alternate within it. `--check` fails if a case exceeds its limit.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import Database from 'better-sqlite3';
import { bundledModules } from './bundled-modules.js';
import { describeSamples, environment, machine, printReport, reportOptions, samples } from './measure.js';
import { readOptions, wholeNumber } from './script-options.js';
import { servedModules } from './served-app.js';
import { forkedScript, serveParley } from './served-place.js';
import { temporaryDirectory } from './temporary-directory.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const parley = join(root, 'bin', 'parley.js');
const connections = 16;
const {
  ids: many,
  memoryIds,
  singleIds: singles,
  curlIds: curls,
  rounds,
  json,
  check,
} = readOptions({
  ids: wholeNumber(100_000),
  'memory-ids': wholeNumber(1_000_000),
  'single-ids': wholeNumber(100_000, { from: connections }),
  'curl-ids': wholeNumber(400),
  rounds: wholeNumber(5),
  ...reportOptions,
});
/** The one before the first is for warmth; a single round, of which no figure is needed, does without. */
const firstRound = rounds > 1 ? -1 : 0;

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
  const bundle = await bundledModules(home, [...servedModules, 'test/support/stored-sessions.ts']);
  const { fillStore } = await import(join(bundle, 'stored-sessions.mjs'));
  const embedded = place('embedded');
  const ids = await filled(embedded, fillStore, many);

  const bare = [];
  const embeddedCase = samples(`embedded, ${many} ids, to better-sqlite3`, 'ms', { max: 3 });
  for (let round = firstRound; round < rounds; round += 1) {
    restoreAll(embedded.store);
    const raw = Number(timed([join(root, 'scripts/bench-deletes/raw-updates.js'), embedded.store], ids).err);
    restoreAll(embedded.store);
    const own = timed([parley, 'sessions', 'delete', '-', '--yes'], ids, embedded.env);
    expectAll(own.out, ids.length);
    if (round >= 0) embeddedCase.add(own.milliseconds / raw, own.milliseconds);
    bare.push(timed(['-e', '0'], []).milliseconds);
  }

  const served = place('served');
  const servedIds = await filled(served, fillStore, many);
  const { url } = await serveParley(served.env, children);
  const client = place('client');
  const key = keyOf(served);
  const remote = { ...client.env, PARLEY_URL: url, PARLEY_API_KEY: key };
  const servedCase = samples(`served, ${many} ids in batches, a second`, '/s', { min: 50_000 });
  for (let round = firstRound; round < rounds; round += 1) {
    // The start of node and of Parley is subtracted: only deleting counts.
    const start = timed(
      [parley, 'sessions', 'delete', 'ses_of_nobody', '--ignore-missing'],
      [],
      remote,
    ).milliseconds;
    const { milliseconds, out } = timed([parley, 'sessions', 'delete', '-', '--yes'], servedIds, remote);
    expectAll(out, servedIds.length);
    const rate = (servedIds.length * 1000) / (milliseconds - start);
    if (round >= 0) servedCase.add(rate, milliseconds);
    timed([parley, 'sessions', 'restore', '-'], servedIds, remote);
  }

  const basic = place('basic');
  await filled(basic, fillStore, singles);
  const { first } = await forkedScript('bench-deletes/basic-server.js', [basic.directory, bundle], {
    env,
    children,
  });
  const basicUrl = first.url;
  const stranger = { ...client.env, PARLEY_URL: basicUrl, PARLEY_API_KEY: keyOf(basic) };
  const singleIds = idsIn(basic.store);
  const singleCase = samples('single DELETEs, of autocannon', '/s', { min: 0.8 });
  const curlCase = samples('single DELETEs, to xargs -P8 curl', '/s', { min: 20 });
  for (let round = firstRound; round < rounds; round += 1) {
    restoreAll(basic.store);
    const cannonRate = await cannon(basicUrl, keyOf(basic), singleIds);
    restoreAll(basic.store);
    const start = timed(
      [parley, 'sessions', 'delete', 'ses_of_nobody', '--ignore-missing'],
      [],
      stranger,
    ).milliseconds;
    const { milliseconds, out } = timed([parley, 'sessions', 'delete', '-', '--yes'], singleIds, stranger);
    expectAll(out, singleIds.length);
    const rate = (singleIds.length * 1000) / (milliseconds - start);
    restoreAll(basic.store);
    const curl = curlRate(basicUrl, keyOf(basic), singleIds.slice(0, curls));
    if (round < 0) continue;
    singleCase.add(rate / cannonRate, rate);
    curlCase.add(rate / curl, curl);
  }

  const memory = samples(`embedded, ${memoryIds} ids, MB at most`, 'MB', { max: 130 });
  const large = place('large');
  const largeIds = await filled(large, fillStore, memoryIds);
  memory.add(peakMegabytes(large, largeIds), largeIds.length);
  return {
    machine: machine(home, bare),
    rounds,
    cases: [embeddedCase, servedCase, singleCase, curlCase, memory].map(({ row }) => row()),
  };
}

/** A configuration and a store of their own. */
function place(name) {
  const directory = join(home, name);
  mkdirSync(directory);
  return {
    directory: join(directory, 'data'),
    store: join(directory, 'data', 'parley.db'),
    env: environment(directory),
  };
}

async function filled({ store, env: own }, fillStore, count) {
  timed([parley, 'models'], [], own);
  return fillStore(store, count);
}

function keyOf({ env: own }) {
  return timed([parley, 'keys', 'create', '--project', 'default'], [], own).out.trim();
}

function restoreAll(path) {
  const database = new Database(path);
  database.exec('UPDATE sessions SET deleted_at = NULL');
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}

function idsIn(path) {
  const database = new Database(path);
  const ids = database.prepare('SELECT session_id FROM sessions ORDER BY id').pluck().all();
  database.close();
  return ids;
}

/** A process that reads the ids from a file, and writes to one, as in `< ids > results`. */
function timed(words, ids, own = env) {
  const [input, output] = [join(home, 'ids'), join(home, 'results')];
  writeFileSync(input, ids.map((id) => `${id}\n`).join(''));
  const [stdin, stdout] = [openSync(input, 'r'), openSync(output, 'w')];
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, words, {
    env: own,
    encoding: 'utf8',
    stdio: [stdin, stdout, 'pipe'],
  });
  const milliseconds = Number(process.hrtime.bigint() - start) / 1e6;
  closeSync(stdin);
  closeSync(stdout);
  if (status !== 0) throw new Error(`node ${words.join(' ')}\nexit ${status}\n${stderr}`);
  return { milliseconds, out: readFileSync(output, 'utf8'), err: stderr };
}

function expectAll(out, count) {
  const lines = out.split('\n').filter((line) => line.startsWith('deleted ')).length;
  if (lines !== count) throw new Error(`${lines} of ${count} were deleted.`);
}

/** The rate of autocannon's deletions, each of another session, up to the last response, because its own clock counts whole seconds. */
async function cannon(url, key, ids) {
  let next = 0;
  let answered = 0;
  let last = 0;
  const start = performance.now();
  const running = autocannon({
    url,
    connections,
    amount: ids.length,
    requests: [
      {
        method: 'DELETE',
        headers: { authorization: `Bearer ${key}` },
        setupRequest(request) {
          const id = ids[next % ids.length];
          next += 1;
          return { ...request, path: `/v1/sessions/${id}` };
        },
      },
    ],
  });
  running.on('response', (_client, status) => {
    if (status !== 200) return;
    answered += 1;
    last = performance.now();
  });
  await running;
  if (answered < ids.length * 0.99) throw new Error(`autocannon had ${answered} of ${ids.length} deleted.`);
  return (answered * 1000) / (last - start);
}

function curlRate(url, key, ids) {
  const start = performance.now();
  const command = `xargs -P8 -n1 -I{} curl -sS -o /dev/null -X DELETE -H "Authorization: Bearer ${key}" ${url}/v1/sessions/{}`;
  const { status, stderr } = spawnSync('sh', ['-c', command], { input: ids.join('\n'), encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return (ids.length * 1000) / (performance.now() - start);
}

/** The peak memory of the process. */
function peakMegabytes({ env: own }, ids) {
  const file = join(home, 'resources');
  const preload = ['--require', join(root, 'scripts/used-resources.cjs')];
  const measured = { ...own, PARLEY_BENCH_RESOURCES: file };
  const { out } = timed([...preload, parley, 'sessions', 'delete', '-', '--yes'], ids, measured);
  expectAll(out, ids.length);
  return JSON.parse(readFileSync(file, 'utf8')).megabytes;
}

function describe(report) {
  return describeSamples(report, rounds, { name: 44, median: 9, half: 17, plainDigits: () => 0 });
}
