// Measures a server, as ratios to bare servers in the same round: `node scripts/bench-serve.js [--rounds N] [--json] [--check]`.
// The cases alternate within a round, so that a busy machine slows both sides. `--check` fails if a case exceeds its limit.
// Rates: 32 connections. `parley serve` syncs every write before its response; the bare server never waits for the disk.
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundledModules } from './bundled-modules.js';
import {
  describeSamples,
  environment,
  machine,
  printReport,
  reportOptions,
  run,
  samples,
} from './measure.js';
import { readOptions, wholeNumber } from './script-options.js';
import { servedModules } from './served-app.js';
import { ask, createKey, forkedScript, serveParley } from './served-place.js';
import { temporaryDirectory } from './temporary-directory.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const parley = join(root, 'bin', 'parley.js');
const { rounds, json, check } = readOptions({ rounds: wholeNumber(8), ...reportOptions });
const legMilliseconds = 1500;
const firstTokensPerRound = 25;
const oneShotsPerRound = 5;
const knownSessions = 1000;
const idleStreams = 1000;

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
  const bundle = await bundledModules(home, [...servedModules, 'src/remote/remote-backend.ts']);
  const { openEmbedded, newKey } = await import(join(bundle, 'embedded.mjs'));
  const { openRemoteBackend } = await import(join(bundle, 'remote-backend.mjs'));

  const key = createKey(env);
  const { url } = await serveParley(env, children);
  const parleySide = { url, key };
  run([parley, 'login', '--url', url, '--key-stdin'], { env, input: key, expect: () => true });

  const bareStore = await openEmbedded(join(home, 'bare'));
  const bareKey = await newKey(bareStore, 'bench');
  const bareIds = await newSessions(bareStore.service, bareKey);
  await bareStore.close();
  const bare = await forked('bare-server.js', join(home, 'bare', 'parley.db'));
  const bareSide = { url: bare.first.url, key: bareKey };

  const load = await forked('load.js');
  const local = await openEmbedded(join(home, 'embedded'));
  const localKey = await newKey(local, 'bench');
  const remote = await openRemoteBackend(remoteOptions(url));
  const ids = await newSessions(remote.service, parleySide.key);

  const rate = async ({ url: target, key: apiKey }, requests) => {
    const texts = requests.map(({ method, path, body }) => requestText(method, path, apiKey, body));
    const order = { ports: [Number(new URL(target).port)], requests: texts, milliseconds: legMilliseconds };
    return (await ask(load, order)).perSecond;
  };
  const write = [{ method: 'POST', path: '/v1/sessions', body: '{"title":"A session of the benchmark"}' }];
  const reads = (known) => known.map((id) => ({ method: 'GET', path: `/v1/sessions/${id}`, body: '' }));

  const post = samples('POST /v1/sessions, of bare', '/s', { min: 0.6 });
  const get = samples('GET /v1/sessions/:id, of bare', '/s', { min: 0.6 });
  const token = samples('first token, ms added', 'ms', { max: 5 });
  const shot = samples('remote chat -n, to bare node', 'ms', { max: 2.2 });
  const starts = [];
  // The first round only warms both sides up.
  for (let round = -1; round < rounds; round += 1) {
    const keep = round >= 0;
    const barePosts = await rate(bareSide, write);
    const posts = await rate(parleySide, write);
    if (keep) post.add(posts / barePosts, posts);
    const bareGets = await rate(bareSide, reads(bareIds));
    const gets = await rate(parleySide, reads(ids));
    if (keep) get.add(gets / bareGets, gets);
    for (let index = 0; index < firstTokensPerRound; index += 1) {
      const own = await firstToken(local.service, localKey);
      const far = await firstToken(remote.service, parleySide.key);
      if (keep) token.add(far - own, far);
    }
    for (let index = 0; keep && index < oneShotsPerRound; index += 1) {
      const floor = run(['-e', '0'], { env, expect: (text) => text === '' }).milliseconds;
      const chat = [parley, 'chat', '-n', '--mode', 'echo', 'hi'];
      const { milliseconds } = run(chat, { env, expect: (text) => text === 'hi\n' });
      shot.add(milliseconds / floor, milliseconds);
      starts.push(floor);
    }
  }
  await remote.close();
  await local.close();
  const memory = samples(`${idleStreams} idle streams, MB added`, 'MB', { max: 60 });
  const { added, whole } = await idleMemory(bundle);
  memory.add(added, whole);
  return {
    machine: machine(home, starts),
    rounds,
    cases: [post, get, token, shot, memory].map(({ row }) => row()),
  };
}

function forked(script, ...words) {
  return forkedScript(`bench-serve/${script}`, words, { env, children });
}

function remoteOptions(url) {
  let keys = 0;
  return {
    url,
    replyPointer: null,
    extensions: ['archive', 'idempotency', 'stream'],
    env: {},
    authorityFile: null,
    readAuthorities: async () => null,
    timeout: null,
    trace: null,
    now: Date.now,
    random: Math.random,
    newIdempotencyKey: () => {
      keys += 1;
      return `${process.pid}-${keys}`;
    },
    wait: (ms) => delay(ms),
  };
}

function requestText(method, path, key, body) {
  const type = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n${type}\r\n${body}`;
}

function callWith(apiKey) {
  return { apiKey, signal: new AbortController().signal, idempotencyKey: null, requestId: 'bench' };
}

async function newSessions(service, key) {
  const made = Array.from({ length: knownSessions }, () =>
    service.createSession(callWith(key), { title: 'A session of the benchmark' }),
  );
  return (await Promise.all(made)).map(({ data }) => data.session_id);
}

/** Milliseconds from the request to the first word of the reply; the rest of it is read, too. */
async function firstToken(service, key) {
  const start = performance.now();
  let first = null;
  for await (const { event } of service.chat(callWith(key), {
    mode: 'echo',
    message: 'Hello',
    session_id: null,
  }))
    if (event === 'delta') first ??= performance.now() - start;
  return first;
}

/** The resident memory of a server with many streams beyond that with one, in MB. */
async function idleMemory(bundle) {
  const held = await forked('held-server.js', join(home, 'held'), bundle);
  const { first } = held;
  const memory = async () => (await ask(held, 'memory')).bytes / 1e6;
  const agent = new Agent({ keepAlive: true });
  await opened(first, agent);
  await delay(500);
  const idle = await memory();
  // A few at a time, because the backlog of the port is short.
  for (let open = 0; open < idleStreams; open += 50)
    await Promise.all(Array.from({ length: 50 }, () => opened(first, agent)));
  await delay(1000);
  const whole = await memory();
  agent.destroy();
  return { added: whole - idle, whole };
}

/** Resolves with the first word of a reply that does not end. */
function opened({ url, key }, agent) {
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${key}`,
      Accept: 'text/event-stream',
      'Content-Type': 'application/json',
    };
    const asking = request(`${url}/v1/chat`, { method: 'POST', headers, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', () => {});
      response.on('data', (part) => {
        text += part;
        if (text.includes('event: delta')) resolve();
        else if (response.statusCode !== 200) reject(new Error(text));
      });
    });
    asking.on('error', reject);
    asking.end('{"mode":"test","message":"Hello"}');
  });
}

function describe(report) {
  const widths = { name: 30, median: 6, half: 12, plainDigits: (plain) => (plain < 100 ? 1 : 0) };
  return describeSamples(report, rounds, widths);
}
