// Attacks a server of this build with large bodies, one at a time and many at once, and measures how long other clients wait, how long the
// server's event loop is blocked, and its memory: `node scripts/attack-server.js [CONCURRENCY] [PART OF A NAME]`, after `npm run build`. It
// connects only to this machine. The other clients run in a process of their own.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { attacks, sequences } from './attack-server/attacks.js';
import { leavingClients } from './attack-server/leaving.js';
import { addDeletedSessions, purgedSessions } from './attack-server/purge.js';
import { ask, createKey, forkedScript } from './served-place.js';
import { temporaryDirectory } from './temporary-directory.js';

const program = fileURLToPath(new URL('../bin/parley.js', import.meta.url));
/** A purge of the sessions that `addDeletedSessions` has added. */
const everySession = ['--all-projects', '--deleted-before', '1d', '--confirm', `${purgedSessions}`];
const watcher = fileURLToPath(new URL('./attack-server/event-loop-watch.cjs', import.meta.url));
const atOnce = Number(process.argv[2] ?? 1);
const wanted = process.argv[3] ?? '';

const say = (line) => process.stdout.write(`${line}\n`);
const place = temporaryDirectory();
const blocks = join(place, 'blocks');
const env = { PATH: process.env.PATH, PARLEY_CONFIG_DIR: place, PARLEY_DATA_DIR: place };
const server = spawn(process.execPath, ['--require', watcher, program, 'serve', '--port', '0', '--json'], {
  env: { ...env, PARLEY_WATCH_FILE: blocks },
  stdio: ['ignore', 'pipe', 'ignore'],
});
const children = [server];
try {
  const first = await new Promise((resolve) => server.stdout.once('data', resolve));
  const { url } = JSON.parse(String(first)).data;
  const command = (...words) =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [program, ...words], { env, stdio: 'ignore' });
      child.on('error', reject).on('exit', resolve);
    });
  const [key, otherKey] = ['attacker', 'other'].map((project) => createKey(env, project));
  let requests = 0;
  const send = ({ method, path, body }, wantsText = false) =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${key}`,
        ...(body && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'idempotency-key': `${path}${requests++}`,
        }),
      };
      const sent = request(url + path, { method, headers, agent: false }, (answer) => {
        let text = '';
        answer
          .on('data', (piece) => {
            if (wantsText) text += piece;
          })
          .on('end', () => resolve(wantsText ? text : answer.statusCode));
      });
      sent.on('error', reject).end(body);
    });
  const memory = (name) => {
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
    return Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
  };
  const processor = () => Number(readFileSync(`/proc/${server.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
  const bystander = await forkedScript('attack-server/bystander.js', [], { env, children });
  await ask(bystander, { url, key: otherKey });
  say(
    'attack | status | of reads, of writes, of searches of another: longest wait, 99 of 100, ms | longest of the event loop, ms | processor of its main thread, ms | it itself, ms | memory before, most so far, MiB',
  );
  const attack = async (name, run) => {
    const before = memory('VmRSS');
    await ask(bystander, 'begin');
    longestBlock(blocks);
    const processorBefore = processor();
    const start = performance.now();
    const statuses = new Set(await run());
    const lasted = performance.now() - start;
    await new Promise((resolve) => setTimeout(resolve, 300));
    const waits = await ask(bystander, 'end');
    const columns = [
      name,
      [...statuses],
      waits.join('; '),
      longestBlock(blocks),
      Math.round(processor() - processorBefore),
      Math.round(lasted),
      `${before}, ${memory('VmHWM')}`,
    ];
    say(columns.join(' | '));
  };
  await attack('none', () => new Promise((resolve) => setTimeout(() => resolve([]), 1000)));
  for (const [name, make] of Object.entries(attacks).filter(([one]) => one.includes(wanted))) {
    const all = Array.from({ length: atOnce }, make);
    await attack(name, () =>
      Promise.all(all.map(([path, body]) => send({ method: 'POST', path, body: Buffer.from(body) }))),
    );
  }
  for (const [name, make] of Object.entries(sequences).filter(([one]) => one.includes(wanted))) {
    const run = make();
    await attack(name, () => run(send));
  }
  for (const [name, run] of leavingClients({ url, key })) {
    if (name.includes(wanted)) await attack(name, run);
  }
  const purge = `a purge of ${purgedSessions} by another process`;
  if (purge.includes(wanted)) {
    addDeletedSessions(place);
    await attack(purge, async () => [await command('sessions', 'purge', ...everySession)]);
  }
} finally {
  for (const child of children) child.kill();
}

/** The output of event-loop-watch.cjs since the last call. */
function longestBlock(file) {
  const text = readFileSync(file, 'utf8').slice(longestBlock.read ?? 0);
  longestBlock.read = (longestBlock.read ?? 0) + text.length;
  return Math.round(Math.max(0, ...text.split('\n').map(Number)));
}
