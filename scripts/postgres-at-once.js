// Sends 300 requests at once to a server with four connections to PostgreSQL, and measures how long the slowest percent waits, compared with the
// median: `node scripts/postgres-at-once.js [--rounds N] [--json] [--check]`, after `npm run build`. `--check` fails if a request failed, or if
// p99 is over five times p50 in the median burst. The database syncs every commit. The suite tests the same without times
// (test/server/concurrent-requests.test.ts).
import { Agent, request } from 'node:http';
import { loadedModules } from './bundled-modules.js';
import { environment, quantile, reportOptions } from './measure.js';
import { readOptions, wholeNumber } from './script-options.js';
import { createKey, serveParley } from './served-place.js';
import { temporaryDirectory } from './temporary-directory.js';

const { rounds, json, check } = readOptions({ rounds: wholeNumber(10), ...reportOptions });
const [callers, connections, maxRatio] = [300, 4, 5];

const home = temporaryDirectory();
const children = [];
let database;
try {
  const { startPostgres } = await loadedModules(home, ['test/support/postgres-server.ts']);
  database = await startPostgres([]);
  const address = `postgres://${database.user}@127.0.0.1:${database.port}/postgres?connections=${connections}`;
  const env = { ...environment(home), PARLEY_STORE: address };
  const headers = { authorization: `Bearer ${createKey(env)}`, 'content-type': 'application/json' };
  const { url } = await serveParley(env, children);
  const { data } = await (await fetch(`${url}/v1/sessions`, { method: 'POST', headers, body: '{}' })).json();
  const requests = {
    create: { method: 'POST', path: '/v1/sessions', body: '{}' },
    read: { method: 'GET', path: `/v1/sessions/${data.session_id}` },
    list: { method: 'GET', path: '/v1/sessions?limit=20' },
    turn: { method: 'POST', path: '/v1/chat', body: JSON.stringify({ mode: 'echo', message: 'Hello' }) },
  };
  const kinds = { ...Object.fromEntries(Object.entries(requests).map(([kind, one]) => [kind, [one]])) };
  kinds.mixed = Object.values(requests);
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const send = (request) => answered(url, { ...request, headers, agent });
  // Every connection is open before the first burst.
  await burst(kinds.read, send);
  const report = [];
  for (const [kind, paths] of Object.entries(kinds)) {
    const bursts = [];
    for (let round = 0; round < rounds; round += 1) bursts.push(await burst(paths, send));
    const middle = (name) =>
      quantile(
        bursts.map((one) => one[name]),
        0.5,
      );
    const failed = bursts.reduce((sum, one) => sum + one.failed, 0);
    const line = { kind, failed, p50: middle('p50'), p99: middle('p99'), ratio: middle('ratio') };
    report.push(line);
    const times = `p50 ${line.p50.toFixed(0)} ms, p99 ${line.p99.toFixed(0)} ms, ratio ${line.ratio.toFixed(1)}`;
    if (!json) process.stdout.write(`${kind.padEnd(7)} ${failed} of ${rounds * callers} failed, ${times}\n`);
  }
  agent.destroy();
  if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
  if (check && report.some(({ failed, ratio }) => failed > 0 || ratio > maxRatio)) process.exitCode = 1;
} finally {
  for (const child of children) child.kill('SIGKILL');
  database?.stop();
}

async function burst(paths, send) {
  const times = [];
  let failed = 0;
  const all = Array.from({ length: callers }, async (_, number) => {
    const start = performance.now();
    if ((await send(paths[number % paths.length])) !== 200) failed += 1;
    times.push(performance.now() - start);
  });
  await Promise.all(all);
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  return { failed, p50, p99, ratio: p99 / p50 };
}

/** The status of the complete response; 0 for none. */
function answered(url, { path, body, ...options }) {
  return new Promise((resolve) => {
    const outgoing = request(url + path, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    });
    outgoing.on('error', () => resolve(0)).end(body);
  });
}
