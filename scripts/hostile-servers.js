// Runs the built program against servers that never end a part of their response, each a different part. Prints how it ends, how long that
// takes, and its peak memory: `node scripts/hostile-servers.js [NAME…]`, after a build, on Linux only. Fails if the program is still running
// after a minute, or uses more than 400 MiB.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { temporaryDirectory } from './temporary-directory.js';

const program = fileURLToPath(new URL('../bin/parley.js', import.meta.url));
const maxMiB = 400;
const maxMs = 60_000;

const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n';
const json = `${head}Content-Type: application/json\r\n\r\n`;
const stream = `${head}Content-Type: text/event-stream\r\n\r\n`;
const chunk = (text) => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
};
const delta = (text) => `event: delta\ndata: {"success":true,"data":{"text":"${text}"}}\n\n`;

/** For each server: the command to run, what is sent first, and what is then sent repeatedly. */
const servers = {
  data: ['verify', json, chunk(Buffer.alloc(65_536, 32))],
  packed: ['verify', `${head}Content-Encoding: gzip\r\n\r\n`, chunk(gzipSync(Buffer.alloc(1_000_000)))],
  extensions: ['verify', json, `1;${'e'.repeat(15_000)}\r\nx\r\n`.repeat(4)],
  heads: ['verify', '', 'HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n'.repeat(1000)],
  header: ['verify', 'HTTP/1.1 200 OK\r\nX: ', Buffer.alloc(65_536, 97)],
  trailers: ['verify', `${json}0\r\n`, 'X: y\r\n'.repeat(5000)],
  objects: ['verify', json + chunk('{"data":[{}'), chunk(',{}'.repeat(20_000))],
  deltas: ['chat', stream, chunk(delta('x'.repeat(1000)).repeat(60))],
  line: ['chat', stream + chunk('data: '), chunk(Buffer.alloc(65_536, 97))],
  lines: ['chat', stream, chunk('data:\n'.repeat(10_000))],
  comments: ['chat', stream, chunk(':\n'.repeat(30_000))],
};
const words = { verify: ['verify'], chat: ['chat', '-n', '-m', 'm', 'hi'] };

function flood(socket, first, again) {
  const write = () => {
    while (!socket.destroyed && socket.write(again));
  };
  socket.on('drain', write).write(first);
  write();
}

/** The peak memory of a process so far, in MiB; 0 after it has ended. */
function peakOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

async function attack(name) {
  const [command, first, again] = servers[name];
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => flood(socket, first, again));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const directory = temporaryDirectory();
  const url = `http://127.0.0.1:${server.address().port}`;
  const start = performance.now();
  const child = spawn(process.execPath, [program, ...words[command], '--url', url], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: directory, PARLEY_CONFIG_DIR: directory, PARLEY_API_KEY: 'k' },
  });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  let peak = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid));
    if (peak > maxMiB || performance.now() - start > maxMs) child.kill('SIGKILL');
  }, 20);
  const status = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(look);
  server.close();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(
    `${name}: exit ${status}, ${peak.toFixed(0)} MiB, ${seconds} s: ${stderr.split('\n')[0]}\n`,
  );
  return status === 1 && stderr.includes('(BAD_RESPONSE)');
}

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(servers);
for (const name of names)
  if (servers[name] === undefined)
    throw new Error(`There is no ${name}, only ${Object.keys(servers).join(', ')}.`);
for (const name of names) if (!(await attack(name))) process.exitCode = 1;
