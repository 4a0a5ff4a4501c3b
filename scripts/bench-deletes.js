// What deleting many sessions takes, side by side with what it is measured against:
// `node scripts/bench-deletes.js [--ids N] [--memory-ids N] [--single-ids N] [--curl-ids N] [--rounds N] [--json] [--check]`.
// Each round begins with all sessions active; the sides take turns within it. `--check` fails beyond a case's reach.
import { fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import Database from 'better-sqlite3';
import { rolldown } from 'rolldown';
import { describeMachine, environment, machine, quantile } from './measure.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const parley = join(root, 'bin', 'parley.js');
const { values } = parseArgs({
  options: {
    ids: { type: 'string', default: '100000' },
    'memory-ids': { type: 'string', default: '1000000' },
    'single-ids': { type: 'string', default: '20000' },
    'curl-ids': { type: 'string', default: '400' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
});
const [many, memoryIds, singles, curls, rounds] = [
  values.ids,
  values['memory-ids'],
  values['single-ids'],
  values['curl-ids'],
  values.rounds,
].map((text) => {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error('Sizes are whole numbers from 1.');
  return number;
});
const connections = 16;

const home = mkdtempSync(join(tmpdir(), 'parley-bench-'));
const env = environment(home);
const children = [];
try {
  const report = await measure();
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
  const beyond = report.cases.filter(({ median, least, most }) => median < least || median > most);
  for (const { name, median, least, most } of beyond)
    process.stderr.write(`${name}: ${median} is beyond its reach of ${least ?? most}.\n`);
  if (values.check && beyond.length > 0) process.exitCode = 1;
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
}

async function measure() {
  const bundle = await bundled();
  const { fillStore } = await import(join(bundle, 'stored-sessions.mjs'));
  const embedded = place('embedded');
  const ids = await filled(embedded, fillStore, many);

  const bare = [];
  const embeddedCase = samples(`embedded, ${many} ids, to better-sqlite3`, 'ms', { most: 3 });
  for (let round = -1; round < rounds; round += 1) {
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
  const url = await serve(served);
  const client = place('client');
  const key = keyOf(served);
  const remote = { ...client.env, PARLEY_URL: url, PARLEY_API_KEY: key };
  const servedCase = samples(`served, ${many} ids in batches, a second`, '/s', { least: 50_000 });
  for (let round = -1; round < rounds; round += 1) {
    // Without the start of node and of Parley: the rate is that of deleting.
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
  const basicUrl = await basicServer(basic, bundle);
  const stranger = { ...client.env, PARLEY_URL: basicUrl, PARLEY_API_KEY: keyOf(basic) };
  const singleIds = idsIn(basic.store);
  const singleCase = samples('single DELETEs, of autocannon', '/s', { least: 0.8 });
  const curlCase = samples('single DELETEs, to xargs -P8 curl', '/s', { least: 20 });
  for (let round = -1; round < rounds; round += 1) {
    restoreAll(basic.store);
    const most = await cannon(basicUrl, keyOf(basic), singleIds);
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
    singleCase.add(rate / most, rate);
    curlCase.add(rate / curl, curl);
  }

  const memory = samples(`embedded, ${memoryIds} ids, MB at most`, 'MB', { most: 120 });
  const large = place('large');
  const largeIds = await filled(large, fillStore, memoryIds);
  memory.add(peakMegabytes(large, largeIds), largeIds.length);
  return {
    machine: machine(home, bare),
    rounds,
    cases: [embeddedCase, servedCase, singleCase, curlCase, memory].map(({ row }) => row()),
  };
}

function samples(name, unit, { least = null, most = null }) {
  const figures = [];
  const plain = [];
  return {
    add(figure, value) {
      figures.push(figure);
      plain.push(value);
    },
    row: () => ({
      name,
      median: quantile(figures, 0.5),
      quarter: quantile(figures, 0.25),
      threeQuarters: quantile(figures, 0.75),
      plain: quantile(plain, 0.5),
      unit,
      ...(least !== null && { least }),
      ...(most !== null && { most }),
    }),
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

/** `parley serve` over a place's store. */
async function serve({ env: own }) {
  const words = [parley, 'serve', '--port', '0', '--json', '--rate-limit', '1000000'];
  const child = spawn(process.execPath, words, { env: own, stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  const [line] = await once(child.stdout, 'data');
  return JSON.parse(line).data.url;
}

async function basicServer({ directory }, bundle) {
  const child = fork(
    fileURLToPath(new URL('bench-deletes/basic-server.js', import.meta.url)),
    [directory, bundle],
    { env },
  );
  children.push(child);
  const [{ url }] = await once(child, 'message');
  return url;
}

/** The rate of deletions that autocannon gets, each of another session: to the last answer, for its own clock counts whole seconds. */
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

/** Of the process, as the kernel has counted it. */
function peakMegabytes({ env: own }, ids) {
  const probe = `process.on('exit', () => process.stderr.write('peak ' + process.resourceUsage().maxRSS + '\\n'))`;
  const file = join(home, 'probe.cjs');
  writeFileSync(file, probe);
  const { err, out } = timed(['--require', file, parley, 'sessions', 'delete', '-', '--yes'], ids, own);
  expectAll(out, ids.length);
  return Number(/peak (\d+)/.exec(err)[1]) / 1024;
}

/** The parts of the program that run in basic-server.js, and the filling of stores, as modules of plain JavaScript. */
async function bundled() {
  const directory = join(home, 'bundle');
  mkdirSync(directory);
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'));
  const bundle = await rolldown({
    cwd: root,
    input: {
      embedded: 'test/support/embedded.ts',
      'stored-sessions': 'test/support/stored-sessions.ts',
      app: 'src/server/app.ts',
      listen: 'src/server/listen.ts',
      'server-log': 'src/server/server-log.ts',
      'server-limits': 'src/server/server-limits.ts',
      limits: 'src/service/limits.ts',
    },
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id) && !id.endsWith('.ts'),
  });
  await bundle.write({ dir: directory, format: 'esm', entryFileNames: '[name].mjs' });
  return directory;
}

function describe(report) {
  const lines = describeMachine(report.machine, rounds);
  lines.push(`${'case'.padEnd(44)}     median        middle half        plain  reach`);
  for (const row of report.cases) {
    const half = `${row.quarter.toFixed(2)}-${row.threeQuarters.toFixed(2)}`;
    const reach = row.least === undefined ? `<= ${row.most}` : `>= ${row.least}`;
    lines.push(
      `${row.name.padEnd(44)}  ${row.median.toFixed(2).padStart(9)}  ${half.padStart(17)}  ${`${row.plain.toFixed(0)} ${row.unit}`.padStart(11)}  ${reach}`,
    );
  }
  return `${lines.join('\n')}\n`;
}
