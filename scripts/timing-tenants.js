// Tests whether response times reveal a session of another project: such sessions and unknown ones are requested alternately, and Welch's t
// compares the two sides: `node scripts/timing-tenants.js [--samples 100000] [--sessions 20000] [--json] [--check]`. Samples are per side and
// case, through the service in this process and through `parley serve` over loopback. `--check` fails if |t| reaches 4.5. The control compares
// unknown sessions with unknown ones.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { join } from 'node:path';
import { loadedModules } from './bundled-modules.js';
import { describeMachine, environment, machine, quantile, reportOptions, run } from './measure.js';
import { readOptions, wholeNumber } from './script-options.js';
import { createKey, serveParley } from './served-place.js';
import { temporaryDirectory } from './temporary-directory.js';

const { samples, sessions, json, check } = readOptions({
  samples: wholeNumber(100_000, { from: 100 }),
  sessions: wholeNumber(20_000, { from: 100 }),
  ...reportOptions,
});
const threshold = 4.5;
/** The ids of each side, requested in turn. */
const idsOfSide = 500;

const home = temporaryDirectory();
const env = environment(home);
const children = [];
try {
  const report = await measure();
  process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
  const beyond = report.cases.filter(
    ({ t, croppedT }) => Math.max(Math.abs(t), Math.abs(croppedT)) >= threshold,
  );
  for (const { name, t, croppedT } of beyond) process.stderr.write(`${name}: t ${t} and ${croppedT}.\n`);
  if (check && beyond.length > 0) process.exitCode = 1;
} finally {
  for (const child of children) child.kill('SIGKILL');
}

async function measure() {
  const [own, other] = ['own', 'other'].map((project) => createKey(env, project));
  const { openEmbedded, callWith } = await loadedModules(home, [
    'test/support/embedded.ts',
    'test/support/calls.ts',
  ]);
  const local = await openEmbedded(join(home, 'data'));
  const sides = {
    foreign: await newIds(local.service, callWith(other)),
    none: idsOfNobody(),
    alsoNone: idsOfNobody(),
  };
  await newIds(local.service, callWith(own));
  const { url } = await serveParley(env, children);
  const bare = Array.from({ length: 5 }, () => run(['-e', '0'], { env, expect: () => true }).milliseconds);
  const places = {
    embedded: async () => embeddedCases(local, callWith(own)),
    served: () => servedCases(url, own),
  };
  const cases = [];
  for (const [place, open] of Object.entries(places)) {
    const requests = await open();
    for (const [name, send] of Object.entries(requests)) {
      cases.push({ name: `${place}, ${name}`, ...(await compare(send, sides.foreign, sides.none)) });
    }
    cases.push({ name: `${place}, control`, ...(await compare(requests.GET, sides.alsoNone, sides.none)) });
  }
  await local.close();
  return { machine: machine(home, bare), samples, sessions, cases };
}

async function newIds(service, call) {
  const ids = [];
  for (let from = 0; from < sessions; from += 1000) {
    const made = Array.from({ length: Math.min(1000, sessions - from) }, () =>
      service.createSession(call, { title: 'A session' }),
    );
    ids.push(...(await Promise.all(made)).map(({ data }) => data.session_id));
  }
  return Array.from({ length: idsOfSide }, (_, index) => ids[Math.floor((index * ids.length) / idsOfSide)]);
}

/** An id with the same length and time as an existing one. */
function idsOfNobody() {
  const digits = '0123456789abcdefghijklmnopqrstuv';
  const now = Date.now().toString(32).padStart(9, '0');
  return Array.from({ length: idsOfSide }, () => {
    const random = [...randomBytes(17)].map((byte) => digits[byte % 32]).join('');
    return `ses_${now}${random}`;
  });
}

function embeddedCases({ service, archive }, call) {
  const refused = async (response) => {
    const found = await response.then(
      () => true,
      () => false,
    );
    if (found) throw new Error('A missing session was found.');
  };
  return {
    GET: (id) => refused(service.getSession(call, id)),
    messages: (id) => refused(archive.listMessages(call, id, { limit: 50, cursor: null })),
    DELETE: (id) => refused(service.deleteSession(call, id)),
  };
}

async function servedCases(url, key) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.unref();
  const ask = (method, path) =>
    new Promise((resolve, reject) => {
      let received = '';
      const listen = (text) => {
        received += text;
        const headEnd = received.indexOf('\r\n\r\n');
        const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
        if (headEnd === -1 || received.length < headEnd + 4 + Number(length)) return;
        socket.off('data', listen);
        if (received.startsWith('HTTP/1.1 404')) resolve();
        else reject(new Error(`Unexpected response: ${received}`));
      };
      socket.on('data', listen);
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    });
  return {
    GET: (id) => ask('GET', `/v1/sessions/${id}`),
    messages: (id) => ask('GET', `/v1/sessions/${id}/messages`),
    DELETE: (id) => ask('DELETE', `/v1/sessions/${id}`),
  };
}

/** Requests one id of each side; the order is random. */
async function compare(send, left, right) {
  const times = [new Float64Array(samples), new Float64Array(samples)];
  const warmUp = Math.min(2000, samples);
  const order = randomBytes(samples + warmUp);
  for (let index = -warmUp; index < samples; index += 1) {
    const first = order[index + warmUp] & 1;
    for (const side of [first, 1 - first]) {
      const id = (side === 0 ? left : right)[Math.abs(index) % idsOfSide];
      const start = process.hrtime.bigint();
      await send(id);
      if (index >= 0) times[side][index] = Number(process.hrtime.bigint() - start) / 1000;
    }
  }
  // The slowest samples show the machine, not the store.
  const limit = quantile([...times[0], ...times[1]], 0.95);
  const cropped = times.map((side) => side.filter((time) => time <= limit));
  return {
    microseconds: times.map((side) => quantile([...side], 0.5)),
    t: welch(times),
    croppedT: welch(cropped),
  };
}

function welch(sides) {
  const [one, other] = sides.map((values) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    return { mean, error: squares / (values.length - 1) / values.length };
  });
  return Math.round(((one.mean - other.mean) / Math.sqrt(one.error + other.error)) * 100) / 100;
}

function describe(report) {
  const lines = [
    ...describeMachine(report.machine, 1),
    `${report.samples} samples per side, ${report.sessions} sessions of each project`,
    '',
    `${'case'.padEnd(20)}  foreign µs    none µs       t  without the slowest 5 %`,
  ];
  for (const { name, microseconds, t, croppedT } of report.cases) {
    const [foreign, none] = microseconds.map((time) => time.toFixed(1).padStart(9));
    lines.push(
      `${name.padEnd(20)}  ${foreign}  ${none}  ${String(t).padStart(6)}  ${String(croppedT).padStart(6)}`,
    );
  }
  return `${lines.join('\n')}\n`;
}
