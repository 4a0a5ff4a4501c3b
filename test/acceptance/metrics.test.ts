// The metrics of a server for Prometheus: each exists, counts its events, and contains nothing of a user.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { readPrometheus, type Sample } from '../support/prometheus-text.ts';
import { type ServedPlace, servePlace } from '../support/served-place.ts';

let database: PostgresServer;
let place: PlaceInProcess;
beforeAll(async () => {
  database = await startPostgres([]);
  place = new PlaceInProcess();
}, 60_000);
afterAll(async () => {
  place.remove();
  await database.stop();
});

async function metricsOf(served: ServedPlace): Promise<readonly Sample[]> {
  const { data } = JSON.parse(served.written.out);
  const response = await fetch(data.metrics);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const { samples, faults } = readPrometheus(await response.text());
  expect(faults).toEqual([]);
  return samples;
}

/** The sum of all series of a metric with these labels. */
const sumOf = (samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}) =>
  samples
    .filter(
      (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0);

const words = ['--metrics', '0', '--json'];

test.each(['SQLite', 'PostgreSQL'])('a server over %s counts what it does', async (kind) => {
  const store = `postgres://parley@127.0.0.1:${database.port}/postgres?connections=2&schema=metrics`;
  const env = kind === 'SQLite' ? {} : { PARLEY_STORE: store };
  const key = (await place.output(['keys', 'create', '--project', 'secret-project'], { env })).trim();
  const served = await servePlace(place, words, env);
  onTestFinished(() => void served.end('SIGTERM'));
  const ask = async (path: string, body: object | null, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(served.url + path, {
      method: body === null ? 'GET' : 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
      ...(body !== null && { body: JSON.stringify(body) }),
    });
    return response.text();
  };
  const { data } = JSON.parse(await ask('/v1/sessions', { title: 'secret title' }));
  await ask('/v1/chat', { mode: 'echo', message: 'secret text', session_id: data.session_id });
  await ask('/v1/chat', { mode: 'echo', message: 'again' }, { Accept: 'text/event-stream' });
  await ask('/v1/chat', { mode: 'nope', message: 'again' });
  await ask(`/v1/sessions/${data.session_id}`, null);
  await ask('/v1/secret/path', null);
  await ask('/v1/models', null, { Authorization: 'Bearer wrong' });
  const samples = await metricsOf(served);
  const requests = (labels: Readonly<Record<string, string>>) =>
    sumOf(samples, 'parley_requests_total', labels);
  expect(requests({})).toBe(7);
  expect(requests({ route: '/v1/chat', method: 'POST', status: '200' })).toBe(2);
  expect(requests({ route: '/v1/sessions/:id', method: 'GET', status: '200' })).toBe(1);
  expect(requests({ route: 'none', status: '404' })).toBe(1);
  expect(requests({ route: '/v1/models', status: '401' })).toBe(1);
  expect(sumOf(samples, 'parley_errors_total', { code: 'UNKNOWN_MODE' })).toBe(1);
  expect(sumOf(samples, 'parley_errors_total')).toBe(3);
  expect(sumOf(samples, 'parley_turns_total', { mode: 'echo', finish: 'stop' })).toBe(2);
  expect(sumOf(samples, 'parley_turns_total')).toBe(2);
  expect(sumOf(samples, 'parley_first_token_seconds_count', { mode: 'echo' })).toBe(2);
  expect(sumOf(samples, 'parley_turn_seconds_bucket', { mode: 'echo', le: '+Inf' })).toBe(2);
  expect(sumOf(samples, 'parley_commit_seconds_count')).toBeGreaterThanOrEqual(5);
  expect(sumOf(samples, 'parley_running_turns')).toBe(0);
  expect(sumOf(samples, 'parley_streams')).toBe(0);
  expect(sumOf(samples, 'parley_store_up')).toBe(1);
  expect(sumOf(samples, 'parley_servers')).toBe(1);
  expect(sumOf(samples, 'parley_store_bytes')).toBeGreaterThan(10_000);
  const maxConnections = kind === 'SQLite' ? 0 : 2;
  expect(sumOf(samples, 'parley_store_connections', { state: 'most' })).toBe(maxConnections);
  const labels = samples.map((one) => JSON.stringify(one.labels)).join('\n');
  for (const secret of ['secret', data.session_id, key]) expect(labels).not.toContain(secret);
});

test('a text that breaks the format, or a rule of promtool, is found', () => {
  const whole = `# HELP a_seconds Of a.
# TYPE a_seconds histogram
a_seconds_bucket{mode="x",le="1"} 2
a_seconds_bucket{mode="x",le="+Inf"} 3
a_seconds_sum{mode="x"} 1e-3
a_seconds_count{mode="x"} 3
# HELP b_total Of b.
# TYPE b_total counter
b_total{code="a\\"\\n"} 1
b_total{code="b"} 0
`;
  expect(readPrometheus(whole)).toMatchObject({ faults: [], families: [{}, {}] });
  const changes: readonly (readonly [string, string])[] = [
    ['# HELP b_total Of b.\n', ''],
    ['# TYPE b_total counter\n', ''],
    ['b_total counter', 'b_total gauge'],
    ['b_total counter', 'b_total number'],
    ['b_total{code="b"} 0', 'b_total{code="b"} none'],
    ['b_total{code="b"} 0', 'b_total{code="b"} -1'],
    ['b_total{code="b"} 0', 'b_total{code=b} 0'],
    ['b_total{code="b"} 0', 'b_total{code="b",code="c"} 0'],
    ['b_total{code="b"} 0', 'b_total{code="a\\"\\n"} 0'],
    ['b_total{code="b"} 0', 'c_total{code="b"} 0'],
    ['b_total{code="b"} 0\n', 'b_total{code="b"} 0'],
    ['b_total{code="b"} 0', 'b_total{code="b"} 0\n# TYPE a_seconds histogram'],
    ['le="+Inf"} 3', 'le="2"} 3'],
    ['le="+Inf"} 3', 'le="+Inf"} 1'],
    ['_count{mode="x"} 3', '_count{mode="x"} 4'],
    ['a_seconds_sum{mode="x"} 1e-3\n', ''],
  ];
  for (const [from, to] of changes) {
    expect(whole).toContain(from);
    expect([to, readPrometheus(whole.replace(from, to)).faults]).not.toEqual([to, []]);
  }
  for (const name of ['b_ms_total', 'b_count', 'b_gauge_total', 'bTotal_total'])
    expect([name, readPrometheus(whole.replaceAll('b_total', name)).faults]).not.toEqual([name, []]);
});

test('the documented metrics, the dashboard and the alerts are those of a server', async () => {
  const served = await servePlace(place, words);
  onTestFinished(() => void served.end('SIGTERM'));
  const { data } = JSON.parse(served.written.out);
  const text = await (await fetch(data.metrics)).text();
  const types = new Map(
    Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = '', type = '']) => [name, type]),
  );
  // A server of one machine has no connections.
  types.set('parley_store_connections', 'gauge');
  const read = (name: string) =>
    readFileSync(fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)), 'utf8');
  const rows = read('metrics.md').matchAll(/^\| `(parley_[a-z_]+)` \| ([a-z]+) \|/gm);
  expect(new Map(Array.from(rows, ([, name = '', type = '']) => [name, type]))).toEqual(types);
  const series = (expression: string) =>
    Array.from(expression.matchAll(/parley_[a-z_]+/g), ([name]) => name.replace(/_(bucket|sum|count)$/, ''));
  const { panels } = JSON.parse(read('metrics/dashboard.json'));
  const shown = panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
    targets.flatMap(({ expr }) => series(expr)),
  );
  const { groups } = parse(read('metrics/alerts.yaml'));
  const watched = groups[0].rules.flatMap(({ expr }: { expr: string }) => series(expr));
  for (const name of [...shown, ...watched]) expect([...types.keys()]).toContain(name);
  expect(new Set(shown)).toEqual(new Set([...types.keys()].filter((name) => name !== 'parley_build_info')));
});

test('the port of the metrics serves nothing else, and a port in use is reported', async () => {
  const served = await servePlace(place, words);
  onTestFinished(() => void served.end('SIGTERM'));
  const { data } = JSON.parse(served.written.out);
  expect((await fetch(data.metrics.replace('metrics', 'v1/models'))).status).toBe(404);
  expect((await fetch(data.metrics, { method: 'POST' })).status).toBe(405);
  expect((await fetch(`${served.url}/metrics`)).status).toBe(404);
  const port = new URL(data.metrics).port;
  const second = await place.parley(['serve', '--port', '0', '--metrics', port]);
  expectFailure(second, { status: 2, code: 'CONFIG' });
  expect(second.err).toContain(`port ${port} is in use`);
  expect(second.err).toContain('Choose another address with --metrics [HOST:]PORT.');
  const absent = await place.parley(['serve', '--port', '0', '--metrics', 'host.invalid:1']);
  expect(absent.err).toContain('Choose another address with --metrics [HOST:]PORT.');
  expect((await place.parley(['serve', '--metrics', 'x:y'])).status).toBe(2);
});

test('the log is text for people on request', async () => {
  const served = await servePlace(place, ['--log-format', 'text']);
  await fetch(`${served.url}/healthz`);
  const { err } = await served.end('SIGTERM');
  expect(err).toMatch(/^\S+Z info {2}GET \/healthz 200 \d+ ms req_\S+$/m);
});
