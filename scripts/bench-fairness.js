// Measures what a large filter or search of one project costs the callers of another: `node scripts/bench-fairness.js [--sessions 1000000]
// [--callers 20] [--seconds 5] [--json] [--check]`. `parley serve` answers GET of single sessions to one caller, first alone, then while many
// callers filter all sessions of a large project. `--check` fails if the 99th percentile is more than twice the quiet one. Then each long
// operation runs alone in this process, and the longest time for which it blocks the event loop is printed.
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { loadedModules } from './bundled-modules.js';
import { describeMachine, environment, machine, quantile, reportOptions, run } from './measure.js';
import { readOptions, wholeNumber } from './script-options.js';
import { createKey, serveParley } from './served-place.js';
import { temporaryDirectory } from './temporary-directory.js';

const { sessions, callers, seconds, json, check } = readOptions({
  sessions: wholeNumber(1_000_000, { from: 2000 }),
  callers: wholeNumber(20),
  seconds: wholeNumber(5),
  ...reportOptions,
});
const limit = 2;
const everySession = {
  title_match: null,
  updated_before: null,
  updated_after: null,
  mode: null,
  tag: null,
  user: null,
  pinned: null,
  archived: null,
  id_suffix: null,
  deleted: false,
  sort: 'updated',
  order: 'desc',
};

const home = temporaryDirectory();
const env = environment(home);
const children = [];
try {
  const report = await measure();
  process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
  if (check && report.ratio > limit) process.exitCode = 1;
} finally {
  for (const child of children) child.kill('SIGKILL');
}

async function measure() {
  const [large, small] = ['default', 'small'].map((project) => createKey(env, project));
  const modules = await loadedModules(home, [
    'test/support/embedded.ts',
    'test/support/built-file.ts',
    'test/support/calls.ts',
    'test/support/stored-sessions.ts',
  ]);
  const ids = modules.fillStore(join(home, 'data', 'parley.db'), sessions);
  const { url } = await serveParley(env, children);
  const agent = new Agent({ keepAlive: true });
  const ask = (apiKey, method, path, body) => send({ url, agent, apiKey, method, path, body });
  const { data } = JSON.parse(await ask(small, 'POST', '/v1/sessions', '{}'));
  const read = () => ask(small, 'GET', `/v1/sessions/${data.session_id}`);
  await timesOf(read, 1);
  const quiet = await timesOf(read, seconds);
  let isOver = false;
  let filters = 0;
  const filtering = Array.from({ length: callers }, async () => {
    while (!isOver) {
      await ask(large, 'GET', '/v1/sessions?title_match=nothing*');
      filters += 1;
    }
  });
  const busy = await timesOf(read, seconds);
  isOver = true;
  await Promise.all(filtering);
  agent.destroy();
  for (const child of children.splice(0)) child.kill('SIGKILL');
  const bare = Array.from({ length: 5 }, () => run(['-e', '0'], { env, expect: () => true }).milliseconds);
  const percentiles = (times) => [0.5, 0.99, 1].map((part) => quantile(times, part));
  return {
    machine: machine(home, bare),
    sessions,
    callers,
    quiet: percentiles(quiet),
    busy: percentiles(busy),
    ratio: quantile(busy, 0.99) / quantile(quiet, 0.99),
    filtersPerSecond: filters / seconds,
    blocks: await blocks(modules, large, ids),
  };
}

/** The duration of each request in ms, one after the other for this long, with a short pause between two. */
async function timesOf(work, length) {
  const times = [];
  const end = performance.now() + length * 1000;
  while (performance.now() < end) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return times;
}

function send({ url, agent, apiKey, method, path, body }) {
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${apiKey}`,
      ...(body && { 'Content-Type': 'application/json' }),
    };
    const asking = request(`${url}${path}`, { method, agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', reject);
      response.on('data', (part) => {
        text += part;
      });
      response.on('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))));
    });
    asking.on('error', reject);
    asking.end(body);
  });
}

/** The longest time for which each operation blocks the event loop, in ms, over a store that also has messages. */
async function blocks({ openEmbedded, callWith, builtFile }, key, ids) {
  addMessages(join(home, 'data', 'parley.db'));
  const workerFile = builtFile('store-worker');
  const { service, archive, administration, close } = await openEmbedded(join(home, 'data'), { workerFile });
  const call = callWith(key);
  const batch = ids.slice(0, 1000);
  const search = (query) => () => archive.searchSessions(call, { query, limit: 50, cursor: null });
  const list = (filter) => () =>
    archive.listSessions(call, { ...everySession, limit: 50, cursor: null, ...filter });
  const erasing = { project_id: null, deleted_before: new Date(Date.now() + 1000).toISOString() };
  // The processes that read the store do not keep this process alive. A server is kept alive by its socket.
  const alive = setInterval(() => {}, 60_000);
  await search('everywhere')();
  const operations = {
    'list by title': list({ title_match: 'nothing*' }),
    'list by creation and activity': list({ sort: 'created', updated_after: '2999-01-01T00:00:00Z' }),
    'search, everywhere': search('everywhere'),
    'search, a phrase that is nowhere': search('"everywhere everywhere"'),
    'search, a beginning': search('w*'),
    'search, many beginnings': search('w* v* e* a* an* ev* w1* w2* v1* w3*'),
    'batch-delete of 1,000': () => archive.deleteSessions(call, batch),
    'plan of a purge': () => administration.planPurge(erasing),
    'batch-restore of 1,000': () => archive.restoreSessions(call, batch),
    'ten batch-deletes of 100 at once': () =>
      Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          archive.deleteSessions(call, ids.slice(at * 100, (at + 1) * 100)),
        ),
      ),
    'import of 10,000 messages': () => archive.importSession(call, longRecord(10_000)),
    'import of 40,000 messages': () => archive.importSession(call, longRecord(40_000)),
    'search after an import': search('said'),
    'keys list': () => administration.listKeys(),
    'usage by mode': () => administration.usage({ since: null, by: 'mode' }),
    'usage by session': () => administration.usage({ since: null, by: 'session' }),
    'any of 10,000 ids': () => administration.holdsAny('none', ids.slice(0, 10_000)),
  };
  await service.verify(call);
  const found = [];
  for (const [name, work] of Object.entries(operations)) found.push({ name, ...(await longestBlock(work)) });
  clearInterval(alive);
  await close();
  return found;
}

async function longestBlock(work) {
  let last = performance.now();
  let longest = 0;
  let isOver = false;
  const turn = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await new Promise((resolve) => setTimeout(resolve, 20));
  longest = 0;
  const start = performance.now();
  await work();
  const milliseconds = performance.now() - start;
  turn();
  isOver = true;
  return { milliseconds, longest };
}

/** Adds a turn to every fifth session by SQL. */
function addMessages(path) {
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  database.exec(`
    INSERT INTO messages (session, position, message_id, role, mode, finish_reason, created_at, content)
      SELECT sessions.id, position, 'msg_' || sessions.id || '_' || position, iif(position, 'assistant', 'user'),
        'echo', iif(position, 'stop', NULL), updated_at,
        'everywhere w' || (sessions.id % 9973) || ' v' || (sessions.id % 97) || ' and w' || (sessions.id % 7919)
      FROM sessions JOIN (SELECT 0 AS position UNION ALL SELECT 1) WHERE sessions.id % 5 = 0;
    UPDATE sessions SET message_count = 2 WHERE id % 5 = 0`);
  database.close();
}

function longRecord(message_count) {
  const time = '2024-01-01T00:00:00.000Z';
  const session = {
    session_id: `ses_long${message_count}`,
    title: 'long',
    created_at: time,
    updated_at: time,
    message_count,
  };
  const messages = Array.from({ length: message_count }, (_, position) => ({
    message_id: `msg_long${position}`,
    position,
    role: position % 2 === 0 ? 'user' : 'assistant',
    content: 'said',
    mode: 'echo',
    finish_reason: position % 2 === 0 ? null : 'stop',
    usage: null,
    created_at: time,
  }));
  return { session, messages };
}

function describe(report) {
  const row = (name, figures) =>
    `${name.padEnd(34)}${figures.map((figure) => figure.toFixed(2).padStart(11)).join('')}`;
  const lines = [
    ...describeMachine(report.machine, 1),
    `GET of a session over ${report.sessions} sessions, ms      median     99 %     longest`,
    row('alone', report.quiet),
    row(`with ${report.callers} callers that filter`, report.busy),
    `99 %: ${report.ratio.toFixed(2)} of alone, limit ${limit}; ${report.filtersPerSecond.toFixed(1)} filters per second`,
    '',
    'operation, ms                            total  longest block',
    ...report.blocks.map(({ name, milliseconds, longest }) => row(name, [milliseconds, longest])),
  ];
  return `${lines.join('\n')}\n`;
}
