// A process that may open few files: what needs another one reports that, and works again when files are free.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { Place, programWords } from '../support/parley.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
  onTestFinished(() => place.remove());
});

function spawnWithFiles(maxFiles: number, words: readonly string[]) {
  const command = `ulimit -n ${maxFiles}; exec "$@"`;
  const child = spawn('/bin/sh', ['-c', command, 'sh', ...programWords, ...words], {
    env: { PATH: process.env['PATH'], ...place.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

test('a server whose clients use all files that it may open refuses a search with that reason, and searches again when they have left', async () => {
  const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'default']);
  const server = spawnWithFiles(64, ['serve', '--port', '0', '--json', '--quiet']);
  server.stderr.resume();
  const [line] = await once(server.stdout, 'data');
  const { port } = JSON.parse(String(line)).data as { readonly port: number };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const get = async (path: string): Promise<{ readonly status: number; readonly text: string }> => {
    const asking = request({ port, agent, path, headers: { authorization: `Bearer ${key}` } }).end();
    const [response] = await once(asking, 'response');
    let text = '';
    for await (const part of response) text += part;
    return { status: response.statusCode, text };
  };
  // The connection that is used again below.
  expect((await get('/v1/sessions')).status).toBe(200);
  const idle: Socket[] = [];
  for (let count = 0; count < 100; count += 1) {
    const socket = connect(port)
      .on('error', () => {})
      .resume();
    await once(socket, 'connect');
    idle.push(socket);
  }
  // Where no more can be opened, the next connection is closed at once.
  await expect.poll(() => idle.some(({ closed }) => closed)).toBe(true);
  const refused = await get('/v1/sessions/search?q=needle');
  expect(refused.status).toBe(503);
  expect(JSON.parse(refused.text).error.code).toBe('UNAVAILABLE');
  for (const socket of idle) socket.destroy();
  await expect.poll(async () => (await get('/v1/sessions/search?q=needle')).status).toBe(200);
  agent.destroy();
});

test('if jq cannot start because no file can be opened, the error does not say that the installation is broken', async () => {
  await place.output(['models']);
  const child = spawnWithFiles(22, ['models', '--json', '--jq', '.data']);
  let talk = '';
  child.stderr.on('data', (part) => {
    talk += part;
  });
  await once(child, 'close');
  expect(talk).not.toMatch(/INTERNAL_ERROR|installation/);
  // On some versions of Node it may fail even earlier.
  expect(talk).not.toBe('');
});

test('an import that may open too few files ends with that reason and waits for no server', async () => {
  await place.output(['chat', '-n', 'hello']);
  const exported = join(place.path, 'all.ndjson');
  await place.output(['sessions', 'export', '--all', '-o', exported, '--format', 'json']);
  const statuses: (number | null)[] = [];
  for (const files of [20, 21, 22, 23, 24]) {
    const child = spawnWithFiles(files, ['sessions', 'import', exported]);
    let talk = '';
    child.stderr.on('data', (part) => {
      talk += part;
      if (talk.includes('overloaded')) child.kill('SIGKILL');
    });
    const [status] = await once(child, 'close');
    if (status !== 0) expect(talk).toMatch(/no more files|EMFILE|too many open files/i);
    statuses.push(status);
  }
  expect(statuses).not.toContain(null);
}, 60_000);
